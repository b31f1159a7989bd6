import { Injectable } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { AppConfig, ConfigModule } from '../../src/platform/config/app-config.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { DatabaseModule } from '../../src/platform/database/database.module.js';
import { Migrator } from '../../src/platform/database/migrations/migrator.js';
import { TransactionRunner } from '../../src/platform/database/transaction.js';
import { entities } from '../../src/entities.js';
import { onEachEngine } from '../support/database.js';

@Injectable()
class Lamp {
  readonly light = 'on';
}

@Injectable()
class Room {
  constructor(readonly lamp: Lamp) {}
}

@Injectable()
class Ledger {
  constructor(
    readonly config: AppConfig,
    readonly dataSource: DataSource,
    readonly transactions: TransactionRunner,
    readonly migrator: Migrator,
  ) {}
}

describe('Dependency injection by type', () => {
  it('injects the classes that a constructor names', async () => {
    const module = await Test.createTestingModule({ providers: [Lamp, Room] }).compile();

    expect(module.get(Room).lamp.light).toBe('on');
    expect(module.get(Room).lamp).toBe(module.get(Lamp));
  });
});

onEachEngine('Database module', ({ engine, url }) => {
  let module: TestingModule;

  beforeAll(async () => {
    module = await Test.createTestingModule({
      imports: [
        ConfigModule.with(loadConfig({ DATABASE_URL: url })),
        DatabaseModule.with(entities),
      ],
      providers: [Ledger],
    }).compile();
  });

  afterAll(() => module.close());

  it('provides the configuration, the data source, the transaction runner and the migrator', () => {
    const ledger = module.get(Ledger);

    expect(ledger.config.database.url).toBe(url);
    expect(ledger.dataSource).toBeInstanceOf(DataSource);
    expect(ledger.dataSource.isInitialized).toBe(true);
    expect(ledger.transactions).toBe(module.get(TransactionRunner));
    expect(ledger.migrator).toBeInstanceOf(Migrator);
  });

  it('uses the driver of the detected engine', () => {
    const { type } = module.get(DataSource).options;

    expect(type).toBe(engine.kind === 'sqlite' ? 'better-sqlite3' : engine.kind);
  });

  it('registers every entity', () => {
    expect(module.get(DataSource).entityMetadatas).toHaveLength(entities.length);
  });
});
