import type { DataSource } from 'typeorm';

/** A statement as it was sent, and the values of its placeholders. */
export interface RecordedQuery {
  query: string;
  parameters: unknown[];
}

/** The SQL statements that run while `work` does, in their order. */
export async function queriesOf(
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
