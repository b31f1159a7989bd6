import { Injectable } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { AppConfig } from '../../src/config/app-config.js';
import { ConfigModule } from '../../src/config/config.module.js';
import { loadConfig } from '../../src/config/load-config.js';
import { DatabaseModule } from '../../src/database/database.module.js';
import { Migrator } from '../../src/database/migrator.js';
import { TransactionRunner } from '../../src/database/transaction.js';
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

describe('injection by type', () => {
  it('gives a class what its constructor names', async () => {
    const module = await Test.createTestingModule({ providers: [Lamp, Room] }).compile();

    expect(module.get(Room).lamp.light).toBe('on');
    expect(module.get(Room).lamp).toBe(module.get(Lamp));
  });
});

onEachEngine('the database module', ({ engine, url }) => {
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

  it('gives the configuration, the connection, the runner and the migrator by type', () => {
    const ledger = module.get(Ledger);

    expect(ledger.config.database.url).toBe(url);
    expect(ledger.dataSource).toBeInstanceOf(DataSource);
    expect(ledger.dataSource.isInitialized).toBe(true);
    expect(ledger.transactions).toBe(module.get(TransactionRunner));
    expect(ledger.migrator).toBeInstanceOf(Migrator);
  });

  it('speaks the dialect of the engine that it found', () => {
    const { type } = module.get(DataSource).options;

    expect(type).toBe(engine.kind === 'sqlite' ? 'better-sqlite3' : engine.kind);
  });

  it('knows every entity', () => {
    expect(module.get(DataSource).entityMetadatas).toHaveLength(entities.length);
  });
});
