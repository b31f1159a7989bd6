import type { Pool } from 'mysql2/promise';
import { bulkInsert, type SqlValue } from './bulk-insert.js';

/** Inserts rows. All must have the columns of the first, in the same order. */
export async function insertRows(
  pool: Pool,
  table: string,
  rows: readonly Record<string, SqlValue>[],
): Promise<void> {
  const values = rows.map((row) => Object.values(row));
  await bulkInsert(pool, table, Object.keys(rows[0] ?? {}), values);
}
