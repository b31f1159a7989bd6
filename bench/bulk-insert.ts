import type { Pool } from 'mysql2/promise';

const ROWS_PER_STATEMENT = 1000;

export type SqlValue = string | number | Date | null;

/** Inserts rows, up to 1,000 per statement. */
export async function bulkInsert(
  pool: Pool,
  table: string,
  columns: readonly string[],
  rows: readonly SqlValue[][],
): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    const batch = rows.slice(start, start + ROWS_PER_STATEMENT);
    await pool.query(`INSERT INTO ${table} (${columns.join(', ')}) VALUES ?`, [batch]);
  }
}
