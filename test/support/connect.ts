import { DataSource } from 'typeorm';
import { loadConfig } from '../../src/config/load-config.js';
import { dataSourceOptions } from '../../src/database/data-source-options.js';
import { Migrator } from '../../src/database/migrator.js';
import { entities } from '../../src/entities.js';

/** Connects as the service does, to whatever stands in the database. The caller destroys the data source. */
export async function connect(url: string, env: Record<string, string> = {}): Promise<DataSource> {
  const { database } = loadConfig({ DATABASE_URL: url, NODE_ENV: 'test', ...env });
  return new DataSource(await dataSourceOptions(database, entities)).initialize();
}

/** The same, with the schema brought up to date. */
export async function connectMigrated(url: string): Promise<DataSource> {
  const dataSource = await connect(url);
  await new Migrator(dataSource).migrate();
  return dataSource;
}
