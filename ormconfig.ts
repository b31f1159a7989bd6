import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { loadConfig } from './src/platform/config/load-config.js';
import { dataSourceOptions, withoutStatementTimeout } from './src/platform/database/data-source.js';
import { entities } from './src/entities.js';

/** The data source of TypeORM's own command line, for whoever works on migrations: the options that the service migrates with. */
export default new DataSource(
  withoutStatementTimeout(await dataSourceOptions(loadConfig().database, entities)),
);
