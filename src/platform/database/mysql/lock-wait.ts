import { entities, type Transaction } from '../transaction.js';

/** Runs `work` with a different lock timeout. No effect on SQLite, which has no row locks. */
export async function withLockTimeout<T>(
  tx: Transaction,
  seconds: number,
  work: () => Promise<T>,
): Promise<T> {
  const manager = entities(tx);
  if (manager.dataSource.options.type === 'better-sqlite3') return work();
  await manager.query(
    `SET @default_lock_timeout = @@SESSION.innodb_lock_wait_timeout, SESSION innodb_lock_wait_timeout = ${seconds}`,
  );
  try {
    return await work();
  } finally {
    await manager.query('SET SESSION innodb_lock_wait_timeout = @default_lock_timeout');
  }
}
