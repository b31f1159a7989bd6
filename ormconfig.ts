import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { loadConfig } from './src/platform/config/load-config.js';
import { dataSourceOptions, withoutStatementTimeout } from './src/platform/database/data-source.js';
import { createDatabaseFile } from './src/platform/database/sqlite-file.js';
import { entities } from './src/entities.js';

const { database } = loadConfig();
await createDatabaseFile(database.address);

/** The data source for TypeORM's command line, with the options of `db migrate`. */
export default new DataSource(withoutStatementTimeout(await dataSourceOptions(database, entities)));
