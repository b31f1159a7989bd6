import type { DataSource } from 'typeorm';
import type { TestDatabase } from './database.js';

/** A statement and the values of its placeholders. */
export interface RecordedQuery {
  query: string;
  parameters: unknown[];
}

/** Compares the clocks every few seconds, so it runs during any work (database-status.ts). */
const CLOCK_QUERY = 'SELECT UTC_TIMESTAMP(3) AS now';

/** Records the SQL statements that run during `work`, in order, without those that compare the clocks. */
export async function recordQueries(
  dataSource: DataSource,
  work: () => Promise<unknown>,
): Promise<RecordedQuery[]> {
  const recorded: RecordedQuery[] = [];
  const { logger } = dataSource;
  const recordingLogger = new Proxy(logger, {
    get: (target, name) =>
      name === 'logQuery'
        ? (query: string, parameters: unknown[] = []) => recorded.push({ query, parameters })
        : Reflect.get(target, name),
  });
  Object.assign(dataSource, { logger: recordingLogger });
  try {
    await work();
  } finally {
    Object.assign(dataSource, { logger });
  }
  return recorded.filter(({ query }) => query !== CLOCK_QUERY);
}

/**
 * The rows of EXPLAIN.
 * @throws when the plan reads no table, for example because no row has the key: such a plan says nothing about indexes
 */
export async function explainQuery(
  { engine }: TestDatabase,
  dataSource: DataSource,
  query: string,
  parameters: unknown[],
): Promise<Record<string, unknown>[]> {
  const isSqlite = engine.kind === 'sqlite';
  // The default format of MySQL 9 is a tree.
  const explain = isSqlite ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN FORMAT=TRADITIONAL';
  const steps = await dataSource.query<Record<string, unknown>[]>(
    `${explain} ${query}`,
    parameters,
  );
  if (isSqlite ? steps.length === 0 : typeof steps[0]?.['type'] !== 'string')
    throw new Error(`The plan reads no table: ${JSON.stringify(steps)}`);
  return steps;
}

/** Steps of SQLite's plans that read no table, but a list of values, or nothing, as in statements that only check existence. */
const NO_TABLE = /^SCAN (?:(?:\d+ )?CONSTANT ROWS?|dummy_table)$/;

/** The steps of a plan that read a whole table or a whole index. @throws like `explainQuery` */
export async function fullScansOf(...args: Parameters<typeof explainQuery>): Promise<string[]> {
  const [{ engine }] = args;
  const steps = await explainQuery(...args);
  return steps
    .filter(({ detail, type }) =>
      engine.kind === 'sqlite'
        ? String(detail).startsWith('SCAN') && !NO_TABLE.test(String(detail))
        : type === 'ALL' || type === 'index',
    )
    .map((step) => JSON.stringify(step));
}

/** The processor time that `work` takes in this process (application and client, not the database server), in milliseconds. */
export async function processorTimeOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
