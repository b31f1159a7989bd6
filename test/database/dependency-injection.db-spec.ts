import { Injectable } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { AppConfig, ConfigModule } from '../../src/platform/config/app-config.js';
import { parseDatabaseUrl } from '../../src/platform/config/database-url.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { DatabaseModule } from '../../src/platform/database/database.module.js';
import { Migrator } from '../../src/platform/database/migrations/migrator.js';
import { TransactionRunner } from '../../src/platform/database/transaction.js';
import { entities } from '../../src/entities.js';
import { onEachEngine } from '../support/database.js';

@Injectable()
class DatabaseConsumer {
  constructor(
    readonly config: AppConfig,
    readonly dataSource: DataSource,
    readonly transactions: TransactionRunner,
    readonly migrator: Migrator,
  ) {}
}

onEachEngine('Database module', ({ engine, url }) => {
  let module: TestingModule;

  beforeAll(async () => {
    module = await Test.createTestingModule({
      imports: [
        ConfigModule.with(loadConfig({ DATABASE_URL: url })),
        DatabaseModule.with(entities),
      ],
      providers: [DatabaseConsumer],
    }).compile();
  });

  afterAll(() => module.close());

  it('provides the configuration, the data source, the transaction runner and the migrator', () => {
    const consumer = module.get(DatabaseConsumer);

    expect(consumer.config.database.address).toEqual(parseDatabaseUrl(url));
    expect(consumer.dataSource).toBeInstanceOf(DataSource);
    expect(consumer.dataSource.isInitialized).toBe(true);
    expect(consumer.transactions).toBe(module.get(TransactionRunner));
    expect(consumer.migrator).toBeInstanceOf(Migrator);
  });

  it('uses the driver of the detected engine, and every entity', () => {
    const { options, entityMetadatas } = module.get(DataSource);
    expect(options.type).toBe(engine.kind === 'sqlite' ? 'better-sqlite3' : engine.kind);
    expect(entityMetadatas).toHaveLength(entities.length);
  });
});
