import type { DataSource } from 'typeorm';
import type { TestDatabase } from './engines.js';

/**
 * The steps of a statement's plan, in the words of the engine.
 * @throws when a server plans no read at all, as for a key that nothing has: such a plan tells nothing
 */
export async function planOf(
  { engine }: TestDatabase,
  dataSource: DataSource,
  query: string,
  parameters: unknown[],
): Promise<Record<string, unknown>[]> {
  const isSqlite = engine.kind === 'sqlite';
  // MySQL 9 draws a tree unless it is asked for rows.
  const explain = isSqlite ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN FORMAT=TRADITIONAL';
  const steps = await dataSource.query<Record<string, unknown>[]>(
    `${explain} ${query}`,
    parameters,
  );
  if (isSqlite ? steps.length === 0 : typeof steps[0]?.['type'] !== 'string')
    throw new Error(`The plan reads nothing: ${JSON.stringify(steps)}`);
  return steps;
}

/** What SQLite walks where a statement asks only whether something is there. */
const NO_TABLE = /^SCAN (?:CONSTANT ROW|dummy_table)$/;

/** The steps of a statement's plan that read a whole table or a whole index. @throws as `planOf` */
export async function scansOf(...of: Parameters<typeof planOf>): Promise<string[]> {
  const [{ engine }] = of;
  const steps = await planOf(...of);
  return steps
    .filter(({ detail, type }) =>
      engine.kind === 'sqlite'
        ? String(detail).startsWith('SCAN') && !NO_TABLE.test(String(detail))
        : type === 'ALL' || type === 'index',
    )
    .map((step) => JSON.stringify(step));
}
