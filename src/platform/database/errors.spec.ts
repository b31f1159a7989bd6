import { isConflict, isDatabaseUnavailable, isReadOnly } from './errors.js';

const errorWith = (fields: object): Error => Object.assign(new Error('It failed.'), fields);

describe('Database errors', () => {
  it.each([
    'EAI_AGAIN',
    'ENETUNREACH',
    'ECONNREFUSED',
    'EADDRNOTAVAIL',
    'ENOBUFS',
    'ENETDOWN',
    'EHOSTDOWN',
    'ECONNABORTED',
    'ERR_STREAM_WRITE_AFTER_END',
    'ERR_STREAM_DESTROYED',
    'EMFILE',
    'ENFILE',
    'ER_READ_ONLY_MODE',
    'ER_RUN_HOOK_ERROR',
    'ER_TRANSACTION_ROLLBACK_DURING_COMMIT',
    'ER_GR_HOLD_MEMBER_STATUS_ERROR',
    'ER_HOST_IS_BLOCKED',
    'ER_CANT_CREATE_THREAD',
    'ER_GET_ERRNO',
    'ER_TEMP_FILE_WRITE_FAILURE',
    'ER_ERROR_DURING_COMMIT',
    'ER_INNODB_READ_ONLY',
    'SQLITE_READONLY',
    'SQLITE_READONLY_DBMOVED',
    'SQLITE_IOERR_WRITE',
    'SQLITE_CANTOPEN',
    'SQLITE_BUSY_SNAPSHOT',
  ])('%s is a sign of an unavailable database', (code) => {
    expect(isDatabaseUnavailable(errorWith({ code }))).toBe(true);
  });

  it.each([
    undefined,
    { code: 'ER_PARSE_ERROR', errno: 1064 },
    { code: 'SQLITE_ERROR' },
    { code: 'SQLITE_CONSTRAINT_UNIQUE' },
    { code: 'SQLITE' },
  ])('%j is not a sign of an unavailable database', (fields) => {
    expect(isDatabaseUnavailable(errorWith(fields ?? {}))).toBe(false);
  });

  it('isReadOnly detects servers that reject writes', () => {
    const codes = ['ER_OPTION_PREVENTS_STATEMENT', 'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION'];
    for (const code of codes) expect(isReadOnly(errorWith({ code }))).toBe(true);
    expect(isReadOnly(errorWith({ code: 'ER_DISK_FULL' }))).toBe(false);
  });

  it('isConflict detects lost conflicts, after which the transaction is retried', () => {
    expect(isConflict(errorWith({ code: 'SQLITE_BUSY_SNAPSHOT' }))).toBe(true);
    expect(isConflict(errorWith({ code: 'SQLITE_BUSY' }))).toBe(false);
    expect(isConflict(errorWith({ code: 'ER_LOCK_DEADLOCK', errno: 1213 }))).toBe(true);
  });
});
