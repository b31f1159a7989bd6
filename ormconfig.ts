import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { loadConfig } from './src/config/app-config.js';
import { dataSourceOptions } from './src/database/data-source-options.js';
import { entities } from './src/entities.js';

/** The data source of TypeORM's own command line, for whoever works on migrations: the same options as the service's. */
export default new DataSource(await dataSourceOptions(loadConfig().database, entities));
