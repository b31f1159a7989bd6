import type { DataSource } from 'typeorm';

/** The rows of every table as JSON text, by the names of the tables. */
export async function everyTable(dataSource: DataSource): Promise<Map<string, string>> {
  const tables = new Map<string, string>();
  for (const { tableName } of dataSource.entityMetadatas)
    tables.set(tableName, JSON.stringify(await dataSource.query(`SELECT * FROM ${tableName}`)));
  return tables;
}

/** The tables that hold one of `words`. */
export function tablesWith(
  tables: ReadonlyMap<string, string>,
  ...words: readonly string[]
): string[] {
  return [...tables]
    .filter(([, rows]) => words.some((word) => rows.includes(word)))
    .map(([table]) => table);
}
