import type { TestApp } from './test-app.js';

/**
 * Whether a MySQL or MariaDB server is at a statement that begins so, in the app's database: where what it needs is locked, it
 * waits. A server may say so for a moment after it answered, so nobody else may have sent one that begins so. Not asked of the table of transactions, which shows what is old while it is read more than ten times a second.
 */
export async function isUnderWay({ dataSource }: TestApp, statement: string): Promise<boolean> {
  const rows = await dataSource.query<unknown[]>(
    'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE ?',
    [`${statement}%`],
  );
  return rows.length > 0;
}
