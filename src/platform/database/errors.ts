/** Codes of a database that rejects writes: a replica, a primary during failover, or a read-only SQLite file. */
const READ_ONLY = new Set([
  'ER_OPTION_PREVENTS_STATEMENT',
  'ER_READ_ONLY_MODE',
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
  'ER_INNODB_READ_ONLY',
  'ER_OPEN_AS_READONLY',
  'SQLITE_READONLY',
]);

/** Codes of errors after which the client should try again later. */
const UNAVAILABLE = new Set([
  ...READ_ONLY,
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  // The server closed the connection before the statement was sent.
  'ERR_STREAM_WRITE_AFTER_END',
  'ERR_STREAM_DESTROYED',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ECONNABORTED',
  'EADDRNOTAVAIL',
  'ENOBUFS',
  'EMFILE',
  'ENFILE',
  'HANDSHAKE_SSL_ERROR',
  'HANDSHAKE_NO_SSL_SUPPORT',
  'ER_SECURE_TRANSPORT_REQUIRED',
  'WRONG_CHARACTER_SET',
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'POOL_CLOSED',
  'ER_SERVER_SHUTDOWN',
  'ER_NORMAL_SHUTDOWN',
  'ER_FORCING_CLOSE',
  'ER_SESSION_WAS_KILLED',
  'ER_CLIENT_INTERACTION_TIMEOUT',
  'ER_SERVER_OFFLINE_MODE',
  'ER_HOST_IS_BLOCKED',
  'ER_CON_COUNT_ERROR',
  'ER_TOO_MANY_USER_CONNECTIONS',
  'ER_USER_LIMIT_REACHED',
  'ER_TOO_MANY_CONCURRENT_TRXS',
  'ER_LOCK_TABLE_FULL',
  'ER_CANT_CREATE_THREAD',
  'ER_OUTOFMEMORY',
  'ER_OUT_OF_RESOURCES',
  'ER_ENGINE_OUT_OF_MEMORY',
  'ER_CAPACITY_EXCEEDED',
  'ER_QUERY_TIMEOUT',
  'ER_QUERY_INTERRUPTED',
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_LOCK_DEADLOCK',
  'ER_CHECKREAD',
  'ER_RUN_HOOK_ERROR',
  'ER_GR_HOLD_WAIT_TIMEOUT',
  'ER_GR_HOLD_MEMBER_STATUS_ERROR',
  'ER_GR_HOLD_KILLED',
  'ER_TRANSACTION_ROLLBACK_DURING_COMMIT',
  'ER_ERROR_DURING_COMMIT',
  'ER_DISK_FULL',
  'ER_DISK_FULL_NOWAIT',
  'ER_RECORD_FILE_FULL',
  'ER_TEMP_FILE_WRITE_FAILURE',
  'ER_GET_ERRNO',
  'ER_ERROR_ON_READ',
  'ER_ERROR_ON_WRITE',
  'ER_IO_READ_ERROR',
  'ER_IO_WRITE_ERROR',
  'SQLITE_BUSY',
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_CANTOPEN',
]);

/** Error numbers of MariaDB that the driver has no name for: statement timeout, connection killed. */
const STATEMENT_TIMEOUT_ON_MARIADB = 1969;
const UNAVAILABLE_ON_MARIADB = new Set([STATEMENT_TIMEOUT_ON_MARIADB, 1927]);

/** Errors of the driver without a code: the pool is closed, or the connection closed between two statements. */
const UNAVAILABLE_MESSAGES = new Set([
  'Pool is closed.',
  "Can't add new command when connection is in closed state",
]);

const LOCK_WAIT_TIMEOUT = 1205;
/** Error numbers after which a transaction can be retried. */
const CONFLICTS = new Set([
  LOCK_WAIT_TIMEOUT,
  // Deadlock.
  1213,
  // Snapshot conflict of MariaDB.
  1020,
  // Not a conflict: the Galera node is not ready, so it rejected the statement.
  1047,
  // Write conflicts of TiDB.
  8002,
  8005,
  9007,
]);

interface DriverError {
  code?: unknown;
  errno?: unknown;
  message?: unknown;
}

/** The server did not confirm COMMIT, so the transaction may or may not be committed. */
export class UnknownCommitOutcome extends Error {
  constructor(cause: unknown) {
    super('The database did not confirm the commit, so the change may or may not be stored.', {
      cause,
    });
    this.name = 'UnknownCommitOutcome';
  }
}

/** Texts on this connection would be damaged. */
export class WrongCharacterSet extends Error {
  readonly code = 'WRONG_CHARACTER_SET';

  constructor(name: string) {
    super(
      `The database connection uses the character set ${name} instead of utf8mb4, so texts would be damaged: configure the proxy between the service and the database server not to change it.`,
    );
  }
}

/** Whether the database is unreachable, overloaded, too slow, full or read-only. The client should try again later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const { errno, message } = fieldsOf(error);
  return (
    error instanceof UnknownCommitOutcome ||
    UNAVAILABLE.has(codeOf(error)) ||
    (typeof errno === 'number' && UNAVAILABLE_ON_MARIADB.has(errno)) ||
    (typeof message === 'string' && UNAVAILABLE_MESSAGES.has(message)) ||
    isConflict(error)
  );
}

/** Whether the database rejects writes. With failover, another server may accept them. */
export function isReadOnly(error: unknown): boolean {
  return READ_ONLY.has(codeOf(error));
}

/**
 * Whether the transaction can be retried, usually because it lost a conflict with a concurrent one. On SQLite, a conflict occurs at
 * the first write after a read if another process wrote in between.
 */
export function isConflict(error: unknown): boolean {
  const { code, errno } = fieldsOf(error);
  return (typeof errno === 'number' && CONFLICTS.has(errno)) || code === 'SQLITE_BUSY_SNAPSHOT';
}

/** Whether the transaction timed out waiting for a lock. */
export function isLockTimeout(error: unknown): boolean {
  return fieldsOf(error).errno === LOCK_WAIT_TIMEOUT;
}

/** Whether another process locked SQLite's file for longer than the timeout. */
export function isFileLocked(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_BUSY' && !isConflict(error);
}

/** Whether the server cancelled the statement after its timeout. */
export function isStatementTimeout(error: unknown): boolean {
  const { code, errno } = fieldsOf(error);
  return code === 'ER_QUERY_TIMEOUT' || errno === STATEMENT_TIMEOUT_ON_MARIADB;
}

/** Whether a primary key or unique index rejected the row. */
export function isDuplicateKey(error: unknown): boolean {
  const { code } = fieldsOf(error);
  return (
    code === 'ER_DUP_ENTRY' ||
    code === 'SQLITE_CONSTRAINT_PRIMARYKEY' ||
    code === 'SQLITE_CONSTRAINT_UNIQUE'
  );
}

/** Reduces SQLite's extended codes, such as SQLITE_IOERR_WRITE, to the primary one. */
function codeOf(error: unknown): string {
  const { code } = fieldsOf(error);
  const name = typeof code === 'string' ? code : '';
  return name.startsWith('SQLITE_') ? name.split('_', 2).join('_') : name;
}

function fieldsOf(error: unknown): DriverError {
  return typeof error === 'object' && error !== null ? error : {};
}
