import type { Pool, RowDataPacket } from 'mysql2/promise';
import { CONNECTIONS } from './load/requests.js';

/** Requests of the warm-up, of the measurement and of the program before, which may be executed without a response. */
const MAX_UNANSWERED = 3 * CONNECTIONS;

/** The values of SQL expressions of numbers. */
export async function readCounters(pool: Pool, counters: readonly string[]): Promise<number[]> {
  if (counters.length === 0) return [];
  const [[row]] = await pool.query<RowDataPacket[]>(`SELECT ${counters.join(', ')}`);
  return Object.values(row ?? {}).map(Number);
}

/**
 * Compares the counters with their values before the requests, to detect responses without rows.
 * @throws if a counter has not increased by one for each response
 */
export async function checkCounters(
  pool: Pool,
  counters: readonly string[],
  before: readonly number[],
  responses: number,
): Promise<void> {
  const after = await readCounters(pool, counters);
  for (const [index, counter] of counters.entries()) {
    const written = Number(after[index]) - Number(before[index]);
    if (written < responses || written > responses + MAX_UNANSWERED)
      throw new Error(`${responses} responses increased ${counter} by ${written}.`);
  }
}
