import type { DataSource } from 'typeorm';
import type { TestDatabase } from './database.js';

/** A statement as it was sent, and the values of its placeholders. */
export interface RecordedQuery {
  query: string;
  parameters: unknown[];
}

/** The SQL statements that run while `work` does, in their order. */
export async function recordQueries(
  dataSource: DataSource,
  work: () => Promise<unknown>,
): Promise<RecordedQuery[]> {
  const recorded: RecordedQuery[] = [];
  const { logger } = dataSource;
  const recording = new Proxy(logger, {
    get: (target, name) =>
      name === 'logQuery'
        ? (query: string, parameters: unknown[] = []) => recorded.push({ query, parameters })
        : Reflect.get(target, name),
  });
  Object.assign(dataSource, { logger: recording });
  try {
    await work();
  } finally {
    Object.assign(dataSource, { logger });
  }
  return recorded;
}

/**
 * The steps of a statement's plan, in the words of the engine.
 * @throws when a server plans no read at all, as for a key that nothing has: such a plan tells nothing
 */
export async function explainQuery(
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
export async function fullScansOf(...of: Parameters<typeof explainQuery>): Promise<string[]> {
  const [{ engine }] = of;
  const steps = await explainQuery(...of);
  return steps
    .filter(({ detail, type }) =>
      engine.kind === 'sqlite'
        ? String(detail).startsWith('SCAN') && !NO_TABLE.test(String(detail))
        : type === 'ALL' || type === 'index',
    )
    .map((step) => JSON.stringify(step));
}

/**
 * What `work` costs this process, so the application and its client, but no database server: milliseconds of processor time,
 * which other programs do not prolong.
 */
export async function processorTimeOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
