import {
  isConflict,
  isDatabaseUnavailable,
  isFileLocked,
  isLockTimeout,
  isReadOnly,
  isStatementTimeout,
} from '../database/errors.js';
import { ConfigError } from '../config/load-config.js';
import { DatabaseFileError } from '../database/sqlite-file.js';
import { permissionRemedy } from '../permission-model.js';

class ListenError extends Error {}

const REJECTED_USER =
  "The database rejected the user or password of DATABASE_URL. Compare the user with the one in the message, whose host is that of this machine as the server sees it: with skip_name_resolve, 'platform'@'localhost' is not 'platform'@'127.0.0.1'. If it accepts only TLS connections, set DATABASE_SSL.";
const REJECTED_PASSWORD = `The user of DATABASE_URL must change its password: ALTER USER <user> IDENTIFIED BY '…';`;
const TOO_MANY_CONNECTIONS =
  'The database server allows no more connections: raise its max_connections, or the limit of the user, or lower DB_POOL_SIZE.';
const MIGRATED_TWICE =
  'Another process changed the schema at the same time. Run "db migrate" again, and on a Galera cluster on one node only: locks of other nodes do not count there.';

/** What to do if the database server refuses the service, by the code of the error or its number. */
const REFUSALS: Readonly<Record<string, string>> = {
  ER_BAD_DB_ERROR: 'The database of DATABASE_URL does not exist: create it first.',
  ER_ACCESS_DENIED_ERROR: REJECTED_USER,
  // Such as MariaDB's root, who signs in by the socket only.
  ER_ACCESS_DENIED_NO_PASSWORD_ERROR: REJECTED_USER,
  ER_DBACCESS_DENIED_ERROR:
    'The user of DATABASE_URL may not use the database: GRANT SELECT, INSERT, UPDATE, DELETE, ALTER, CREATE, DROP, INDEX ON <database>.* TO <user>;',
  ER_TABLEACCESS_DENIED_ERROR:
    'The user of DATABASE_URL lacks a privilege: GRANT SELECT, INSERT, UPDATE, DELETE ON <database>.* TO <user>; "db migrate" also needs ALTER, CREATE, DROP, INDEX.',
  ER_HOST_NOT_PRIVILEGED:
    "The database server accepts no user from the address of this machine: create the user for this address, such as 'platform'@'10.0.0.%'.",
  ER_HOST_IS_BLOCKED:
    'The database server blocks the address of this machine after too many failed connections: run TRUNCATE TABLE performance_schema.host_cache there (MariaDB: FLUSH HOSTS), and let load balancers check only that the port is open.',
  ER_ACCOUNT_HAS_BEEN_LOCKED:
    'The user of DATABASE_URL is locked: ALTER USER <user> ACCOUNT UNLOCK;',
  // The same on MariaDB, whose number the driver has another name for.
  4151: 'The user of DATABASE_URL is locked: ALTER USER <user> ACCOUNT UNLOCK;',
  ER_MUST_CHANGE_PASSWORD: REJECTED_PASSWORD,
  ER_MUST_CHANGE_PASSWORD_LOGIN: REJECTED_PASSWORD,
  AUTH_SWITCH_PLUGIN_ERROR:
    'The user of DATABASE_URL signs in by a method that the service does not support: use caching_sha2_password on MySQL, and mysql_native_password on MariaDB.',
  ER_CON_COUNT_ERROR: TOO_MANY_CONNECTIONS,
  ER_TOO_MANY_USER_CONNECTIONS: TOO_MANY_CONNECTIONS,
  ER_USER_LIMIT_REACHED: TOO_MANY_CONNECTIONS,
  ER_BINLOG_STMT_MODE_AND_ROW_ENGINE:
    'The database server cannot replicate the isolation level READ COMMITTED with binlog_format=STATEMENT: set binlog_format to ROW or MIXED, and connect again.',
  ER_DUP_FIELDNAME: MIGRATED_TWICE,
  ER_DUP_KEYNAME: MIGRATED_TWICE,
  ER_TABLE_EXISTS_ERROR: MIGRATED_TWICE,
};

/** Wraps errors of `listen`, to distinguish them from network errors of the database. */
export async function wrapListenErrors(listen: () => Promise<unknown>): Promise<void> {
  try {
    await listen();
  } catch (cause) {
    throw new ListenError('The service cannot listen.', { cause });
  }
}

/** Why the service or a command failed to start; with a stack trace for unexpected errors. */
export function startupErrorMessage(error: unknown): string {
  if (error instanceof ConfigError || error instanceof DatabaseFileError) return error.message;
  const permission = permissionRemedy(error instanceof ListenError ? error.cause : error);
  if (permission !== undefined) return `The permission model of Node.js denies it: ${permission}.`;
  if (error instanceof ListenError) return listenProblem(error.cause as ListenFailure);
  const { code, errno, message, stack, path } = error as NodeJS.ErrnoException;
  // A file system error, such as too many open files.
  if (path !== undefined) return stack ?? message;
  if (code === 'SQLITE_NOTADB') return 'The file of DATABASE_URL is not a SQLite database.';
  const refusal = REFUSALS[errno ?? ''] ?? REFUSALS[code ?? ''];
  if (refusal !== undefined) return `${refusal} (${message})`;
  if (code === 'WRONG_CHARACTER_SET') return message;
  const tls = tlsProblem(code, message);
  if (tls !== undefined) return tls;
  if (isDatabaseUnavailable(error) && isServerError(error))
    return `The database is reachable but reports an error: ${message}. ${serverRemedy(error)}`;
  if (isDatabaseUnavailable(error))
    return `The database of DATABASE_URL cannot be reached: ${message || code}`;
  return stack ?? String(error);
}

/** What to do about an error of a reachable database. Advises to try again only where that can succeed. */
function serverRemedy(error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (/DISK_FULL|FILE_FULL|SQLITE_FULL|TEMP_FILE|SQLITE_IOERR|ERROR_ON_WRITE|IO_WRITE/.test(code))
    return 'Check that its disk has free space and works.';
  if (isReadOnly(error))
    return 'It does not accept writes: name the primary in DATABASE_URL, or all servers of its group.';
  if (code === 'ER_RUN_HOOK_ERROR')
    return 'Its replication rejected the transaction: check the state of the group and group_replication_transaction_size_limit.';
  if (isConflict(error))
    return 'Try again, and on a Galera cluster run "db migrate" on one node only: locks of other nodes do not count there.';
  if (isLockTimeout(error) || isFileLocked(error) || isStatementTimeout(error))
    return 'Try again; if it fails again, check its locks and long-running statements.';
  return 'Check the log of the database server.';
}

/** The driver replaces the codes of OpenSSL, so the message decides. */
function tlsProblem(code: string | undefined, message: string): string | undefined {
  if (code === 'ER_SECURE_TRANSPORT_REQUIRED')
    return 'The database accepts only TLS connections: set DATABASE_SSL, for example to verify-full.';
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT')
    return 'The database does not support TLS, which DATABASE_SSL requires: enable TLS on the server.';
  if (code !== 'HANDSHAKE_SSL_ERROR') return undefined;
  return `The TLS connection to the database failed: ${message}. ${tlsRemedy(message)}`;
}

function tlsRemedy(message: string): string {
  if (message.includes('expired')) return 'Renew the certificate of the database server.';
  if (message.startsWith('Hostname/IP'))
    return 'Use a name of that certificate as the host in DATABASE_URL, or set DATABASE_SSL=verify-ca.';
  if (/self-signed|issuer|first certificate/.test(message))
    return 'Set DATABASE_SSL_CA to the CA that signed the certificate of the database server.';
  return 'Check the certificates of the server and the DATABASE_SSL variables.';
}

type ListenFailure = NodeJS.ErrnoException & { port?: number };

function listenProblem({ code, message, port }: ListenFailure): string {
  return code === 'EADDRINUSE'
    ? `Port ${port} is in use. Stop the process that listens on it, or set PORT or METRICS_PORT to another port.`
    : `The service cannot listen: ${message}. Set HOST and METRICS_HOST to addresses of this machine, and PORT and METRICS_PORT to ports that the user of this process may open.`;
}

/** Database servers use positive error numbers, the operating system negative ones. */
function isServerError(error: unknown): boolean {
  const { code, errno } = error as NodeJS.ErrnoException;
  return (errno !== undefined && errno > 0) || code?.startsWith('SQLITE_') === true;
}
