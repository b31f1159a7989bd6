import type { TestApp } from './test-app.js';

/** Whether a unit of work in the app's database, on MySQL or MariaDB, waits for a row that another one holds. */
export async function isWaitingForRow({ dataSource }: TestApp): Promise<boolean> {
  const waiting = `SELECT COUNT(*) AS number FROM information_schema.innodb_trx t
    JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
    WHERE t.trx_state = 'LOCK WAIT' AND p.db = DATABASE()`;
  const [{ number }] = await dataSource.query<[{ number: string }]>(waiting);
  return Number(number) > 0;
}
