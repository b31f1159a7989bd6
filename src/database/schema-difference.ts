import type { DataSource } from 'typeorm';

/** The statements that would make the schema what the entities say; none when it is. Changes nothing. */
export async function missingStatements(dataSource: DataSource): Promise<string[]> {
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  return upQueries.map(({ query }) => query);
}
