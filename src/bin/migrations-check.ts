import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { loadConfig } from '../config/load-config.js';
import { dataSourceOptions } from '../database/data-source-options.js';
import { missingStatements } from '../database/schema-difference.js';
import { entities } from '../entities.js';

/** Fails when entities and migrations differ: the statements that would be missing are printed. */
async function main(): Promise<void> {
  const config = loadConfig({ DATABASE_URL: process.argv[2] ?? 'sqlite::memory:' });
  const dataSource = new DataSource(await dataSourceOptions(config.database, entities));
  await dataSource.initialize();
  await dataSource.runMigrations();
  const missing = await missingStatements(dataSource);
  await dataSource.destroy();
  for (const statement of missing) console.error(statement);
  if (missing.length > 0) {
    console.error(
      'Entities and migrations differ by the statements above. "npm run db:new <Name>" starts a migration.',
    );
    process.exitCode = 1;
  } else {
    console.log('Migrations equal entities.');
  }
}

await main();
