import type { DataSource } from 'typeorm';
import type { TestDatabase } from './engines.js';

/**
 * The steps of a statement's plan that read a whole table or a whole index.
 * @throws when a server plans no read at all, as for a key that nothing has: such a plan tells nothing
 */
export async function scansOf(
  { engine }: TestDatabase,
  dataSource: DataSource,
  query: string,
  parameters: unknown[],
): Promise<string[]> {
  const isSqlite = engine.kind === 'sqlite';
  // MySQL 9 draws a tree unless it is asked for rows.
  const explain = isSqlite ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN FORMAT=TRADITIONAL';
  const steps = await dataSource.query<Record<string, unknown>[]>(
    `${explain} ${query}`,
    parameters,
  );
  if (isSqlite ? steps.length === 0 : typeof steps[0]?.['type'] !== 'string')
    throw new Error(`The plan reads nothing: ${JSON.stringify(steps)}`);
  return steps
    .filter(({ detail, type }) =>
      isSqlite ? String(detail).startsWith('SCAN') : type === 'ALL' || type === 'index',
    )
    .map((step) => JSON.stringify(step));
}
