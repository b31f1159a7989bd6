import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { migrations } from '../../src/platform/database/migrations/list.js';
import { Migrator, schemaChanges } from '../../src/platform/database/migrations/migrator.js';
import { entities } from '../../src/entities.js';
import { connect, onEachEngine, onEachServer } from '../support/database.js';

/** Several, because the order of the processes is random. */
const ROUNDS = 2;
const FOLDER = 'src/platform/database/migrations';
const NAMES = migrations.map(({ name }) => name);
/** SQL keywords and TypeORM options that the project avoids: see decisions 0001 and 0002. */
const FORBIDDEN_WORDS = [
  ...['TRIGGER', 'PROCEDURE', 'LOCK TABLES', 'RETURNING', 'SAVEPOINT', 'CURRENT_TIMESTAMP'],
  ...['NOW()', 'ENUM', 'FOREIGN KEY', 'foreignKey', 'AUTO_INCREMENT', 'isGenerated'],
];

async function tablesOf(dataSource: DataSource): Promise<string[]> {
  const rows: { name: string }[] = await dataSource.query(
    dataSource.options.type === 'better-sqlite3'
      ? `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
      : 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
  );
  return rows.map(({ name }) => name).filter((name) => name !== 'migrations');
}

/** Drops every table. Faster than reverting the migrations one by one. */
async function dropTables(dataSource: DataSource): Promise<void> {
  for (const table of [...(await tablesOf(dataSource)), 'migrations'])
    await dataSource.query(`DROP TABLE IF EXISTS ${table}`);
}

/** Short, because waiting for SQLite's lock blocks this process, including the holder of the lock. */
const SHORT_LOCK_WAIT = { DB_TIMEOUT_MS: '1000' };

/** Migrators with their own connections, like those of other processes. */
async function otherMigrators(
  url: string,
  count: number,
): Promise<{ migrators: Migrator[]; close: () => Promise<unknown> }> {
  const connections = await Promise.all(
    Array.from({ length: count }, () => connect(url, SHORT_LOCK_WAIT)),
  );
  return {
    migrators: connections.map((connection) => new Migrator(connection)),
    close: () => Promise.all(connections.map((connection) => connection.destroy())),
  };
}

onEachEngine('Migrations', ({ url }) => {
  let dataSource: DataSource;
  let migrator: Migrator;

  beforeAll(async () => {
    dataSource = await connect(url, SHORT_LOCK_WAIT);
    migrator = new Migrator(dataSource);
  });
  afterAll(() => dataSource.destroy());

  describe('of an empty database', () => {
    beforeEach(() => dropTables(dataSource));

    it('are all pending, and reading their status changes nothing', async () => {
      expect(await migrator.status()).toEqual(NAMES.map((name) => ({ name, applied: false })));
      expect(await migrator.isCurrent()).toBe(false);
      expect(await tablesOf(dataSource)).toEqual([]);
    });

    it('can be run by several processes that start one after another', async () => {
      const others = await otherMigrators(url, 3);
      const ran = await Promise.all(
        [migrator, ...others.migrators].map(async (each, index) => {
          await sleep(index * 25);
          return each.migrate();
        }),
      );
      await others.close();
      const rows: unknown[] = await dataSource.query('SELECT name FROM migrations');

      expect(ran.flat().length).toBeGreaterThanOrEqual(NAMES.length);
      expect(rows).toEqual(NAMES.map((name) => ({ name })));
      expect(await schemaChanges(dataSource)).toEqual([]);
    });

    it(
      'can be run by several processes that start at the same moment',
      { timeout: 60_000 },
      async () => {
        const others = await otherMigrators(url, 3);
        for (let round = 0; round < ROUNDS; round += 1) {
          await dropTables(dataSource);
          await Promise.all([migrator, ...others.migrators].map((each) => each.migrate()));
          expect(await schemaChanges(dataSource)).toEqual([]);
        }
        await others.close();
      },
    );

    it('create exactly the tables of the entities, and can be reverted and run again', async () => {
      expect(await migrator.migrate()).toEqual(NAMES);
      expect(await migrator.status()).toEqual(NAMES.map((name) => ({ name, applied: true })));
      expect(await migrator.isCurrent()).toBe(true);
      expect(await tablesOf(dataSource)).toHaveLength(entities.length);
      expect(await schemaChanges(dataSource)).toEqual([]);

      for (const _ of NAMES) await dataSource.undoLastMigration();
      expect(await tablesOf(dataSource)).toEqual([]);
      expect(await migrator.isCurrent()).toBe(false);

      expect(await migrator.migrate()).toEqual(NAMES);
      expect(await schemaChanges(dataSource)).toEqual([]);
    });
  });

  it('do nothing in a second run, from this process or another', async () => {
    await migrator.migrate();
    const tables = await tablesOf(dataSource);
    const others = await otherMigrators(url, 1);

    expect(await migrator.migrate()).toEqual([]);
    for (const other of others.migrators) expect(await other.migrate()).toEqual([]);
    expect(await tablesOf(dataSource)).toEqual(tables);
    await others.close();
  });
});

onEachServer('Migrations on a server', ({ url }) => {
  let dataSource: DataSource;
  beforeAll(async () => {
    dataSource = await connect(url);
    await new Migrator(dataSource).migrate();
  });
  afterAll(() => dataSource.destroy());

  it('use one Unicode collation that compares code points for every text column', async () => {
    const rows: { name: string }[] = await dataSource.query(
      `SELECT DISTINCT collation_name AS name FROM information_schema.columns
       WHERE table_schema = DATABASE() AND table_name <> 'migrations' AND collation_name IS NOT NULL`,
    );

    expect(rows).toHaveLength(1);
    expect(rows[0]?.name).toMatch(/^utf8mb4_(0900|nopad)_bin$/);
  });

  it('continue where an interrupted run stopped', async () => {
    await dataSource.query('DROP TABLE posts, job_runs');
    await dataSource.query('DELETE FROM migrations');

    expect(await new Migrator(dataSource).migrate()).toEqual(NAMES);
    expect(await schemaChanges(dataSource)).toEqual([]);
  });
});

describe('Source files of the migrations', () => {
  it.each(FORBIDDEN_WORDS)('do not contain %s', async (word) => {
    const files = await readdir(FOLDER);
    const sources = await Promise.all(files.map((file) => readFile(`${FOLDER}/${file}`, 'utf8')));
    const offending = files.filter((_, index) =>
      sources[index]?.toLowerCase().includes(word.toLowerCase()),
    );

    expect(files.length).toBeGreaterThanOrEqual(NAMES.length);
    expect(offending).toEqual([]);
  });

  it('are all listed, oldest first', async () => {
    const files = (await readdir(FOLDER)).filter((file) => /^\d/.test(file)).toSorted();
    const names = files.map((file) => file.replace(/^(\d+)-(.+)\.ts$/, '$2$1'));

    expect(NAMES).toEqual(names);
  });
});
