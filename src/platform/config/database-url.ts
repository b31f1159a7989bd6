import { isIP } from 'node:net';

export interface DatabaseServer {
  host: string;
  port: number;
}

/** What `DATABASE_URL` names: a file of SQLite, or one or more servers of MySQL or MariaDB. */
export type DatabaseAddress =
  | { engine: 'sqlite'; file: string }
  | {
      engine: 'server';
      /** Replicated servers, of which one accepts writes; or a single one. */
      servers: readonly [DatabaseServer, ...DatabaseServer[]];
      user: string;
      password: string;
      database: string;
    };

const DEFAULT_PORT = 3306;
const EXAMPLE = 'mysql://user:password@host:3306/name';
const SERVER_URL =
  /^(?:mysql|mariadb):\/\/(?:(?<user>[^@/?#:]*)(?::(?<password>[^@/?#:]*))?@)?(?<servers>[^@/?#]*)(?:\/(?<database>[^/?#]*))?$/;
const SERVER = /^(?:\[(?<ip6>[^\]]*)\]|(?<name>[^:[\]\s%]+))(?::(?<port>\d+))?$/;

/**
 * Parses `sqlite:<path>` or `mysql://user:password@first:3306,second:3306/name`. User, password and database are percent-decoded
 * (RFC 3986 §2.4).
 * @throws Error with the problem, without the password
 */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  if (text.startsWith('sqlite:')) return { engine: 'sqlite', file: sqliteFile(text) };
  if (!/^(mysql|mariadb):\/\//.test(text))
    throw new Error(`must start with sqlite:, mysql:// or mariadb://, as in ${EXAMPLE}`);
  if (text.includes('?'))
    throw new Error(
      'must not have parameters; set DATABASE_SSL and its files for TLS, and write ? in a password as %3F',
    );
  const parts = SERVER_URL.exec(text)?.groups;
  if (!parts)
    throw new Error(
      `must look like ${EXAMPLE}; percent-encode @ : / and # in user, password and name, such as %40 for @`,
    );
  const { user = '', password = '', servers = '', database = '' } = parts;
  if (user === '') throw new Error(`must name a user, as in ${EXAMPLE}`);
  if (database === '') throw new Error(`must name a database after the host, as in ${EXAMPLE}`);
  const [first = '', ...others] = servers.split(',');
  return {
    engine: 'server',
    servers: [parseServer(first), ...others.map(parseServer)],
    user: decode(user),
    password: decode(password),
    database: decode(database),
  };
}

/** `sqlite:` is followed by a path. `sqlite:///var/data` is one too; `sqlite://data` is a host in other programs. */
function sqliteFile(text: string): string {
  // The driver trims the path as well.
  const file = text.slice('sqlite:'.length).trim();
  if (file === '' || /^\/\/[^/]/.test(file) || file.includes('?'))
    throw new Error(
      'must be sqlite:<path> without parameters, such as sqlite:./data/service.sqlite',
    );
  return file;
}

function parseServer(text: string): DatabaseServer {
  const { ip6, name = '', port = DEFAULT_PORT } = SERVER.exec(text)?.groups ?? {};
  const host = ip6 ?? name;
  if (host === '' || (ip6 !== undefined && isIP(ip6) !== 6))
    throw new Error(
      `must name each server as host:port, with IPv6 addresses in brackets; "${text}" is not one`,
    );
  if (Number(port) < 1 || Number(port) > 65_535)
    throw new Error(`must use a port from 1 to 65535; ${port} is not one`);
  return { host, port: Number(port) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('must percent-encode % in user, password and name as %25');
  }
}
