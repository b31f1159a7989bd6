import { Global, Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSourceOptions } from 'typeorm';
import { AppConfig } from '../config/app-config.js';
import { CounterCaches } from './counter-cache.js';
import { DatabaseClock, DatabaseDiagnostics } from './database-status.js';
import { dataSourceOptions } from './data-source.js';
import { Migrator } from './migrations/migrator.js';
import { TransactionRunner } from './transaction.js';

/** The data source, the transaction runner, the migrator, the counter caches, and the clock and diagnostics of the database. */
@Global()
@Module({})
export class DatabaseModule {
  static with(entities: NonNullable<DataSourceOptions['entities']>): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [AppConfig],
          useFactory: async (config: AppConfig) => ({
            ...(await dataSourceOptions(config.database, entities)),
            retryAttempts: 0,
          }),
        }),
      ],
      providers: [Migrator, CounterCaches, DatabaseClock, DatabaseDiagnostics, TransactionRunner],
      exports: [Migrator, CounterCaches, DatabaseClock, DatabaseDiagnostics, TransactionRunner],
    };
  }
}
