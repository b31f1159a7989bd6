import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { loadConfig } from './src/platform/config/load-config.js';
import { dataSourceOptions, withoutStatementTimeout } from './src/platform/database/data-source.js';
import { entities } from './src/entities.js';

/** The data source for TypeORM's command line, with the options of `db migrate`. */
export default new DataSource(
  withoutStatementTimeout(await dataSourceOptions(loadConfig().database, entities)),
);
