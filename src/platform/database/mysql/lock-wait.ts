import { entities, type Transaction } from '../transaction.js';

/**
 * Runs the statements of `work` with a shorter lock wait than usual. SQLite has one writer, so there is no wait.
 */
export async function withLockTimeout<T>(
  tx: Transaction,
  seconds: number,
  work: () => Promise<T>,
): Promise<T> {
  const manager = entities(tx);
  if (manager.dataSource.options.type === 'better-sqlite3') return work();
  await manager.query(
    `SET @usual_lock_wait = @@SESSION.innodb_lock_wait_timeout, SESSION innodb_lock_wait_timeout = ${seconds}`,
  );
  try {
    return await work();
  } finally {
    await manager.query('SET SESSION innodb_lock_wait_timeout = @usual_lock_wait');
  }
}
