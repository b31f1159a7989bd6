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

class ListenError extends Error {}

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
  if (error instanceof ListenError) return listenProblem(error.cause as ListenFailure);
  const { code, message, stack, path } = error as NodeJS.ErrnoException;
  // A file system error, such as too many open files.
  if (path !== undefined) return stack ?? message;
  if (code === 'SQLITE_NOTADB') return 'The file of DATABASE_URL is not a SQLite database.';
  if (code === 'ER_BAD_DB_ERROR')
    return `The database of DATABASE_URL does not exist: create it first. (${message})`;
  if (code === 'ER_ACCESS_DENIED_ERROR')
    return `The database rejected the user or password of DATABASE_URL. If it accepts only TLS connections, set DATABASE_SSL. (${message})`;
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
  if (isConflict(error) || isLockTimeout(error) || isFileLocked(error) || isStatementTimeout(error))
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
