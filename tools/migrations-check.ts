import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { loadConfig } from '../src/platform/config/load-config.js';
import { dataSourceOptions } from '../src/platform/database/data-source.js';
import { schemaChanges } from '../src/platform/database/migrations/migrator.js';
import { entities } from '../src/entities.js';

/** Fails if the migrations do not create the schema of the entities, and prints the missing statements. */
async function main(): Promise<void> {
  const config = loadConfig({ DATABASE_URL: process.argv[2] ?? 'sqlite::memory:' });
  const dataSource = new DataSource(await dataSourceOptions(config.database, entities));
  await dataSource.initialize();
  await dataSource.runMigrations();
  const missing = await schemaChanges(dataSource);
  await dataSource.destroy();
  for (const statement of missing) console.error(statement);
  if (missing.length > 0) {
    console.error(
      'The migrations lack the statements above. Run "npm run db:new <Name>" to add a migration for them.',
    );
    process.exitCode = 1;
  } else {
    console.log('The migrations match the entities.');
  }
}

await main();
