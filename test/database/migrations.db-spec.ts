import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { isDatabaseUnavailable } from '../../src/common/database-faults.js';
import { loadConfig } from '../../src/config/load-config.js';
import { dataSourceOptions } from '../../src/database/data-source-options.js';
import { migrations } from '../../src/database/migrations.js';
import { Migrator } from '../../src/database/migrator.js';
import { missingStatements } from '../../src/database/schema-difference.js';
import { entities } from '../../src/entities.js';
import { connect, onEachEngine, onEachServer } from '../support/database.js';

/** A few, since who comes first is a matter of chance. */
const ROUNDS = 3;
const FOLDER = 'src/database/migrations';
const NAMES = migrations.map(({ name }) => name);
const FORBIDDEN = [
  'TRIGGER',
  'PROCEDURE',
  'GET_LOCK',
  'LOCK TABLES',
  'RETURNING',
  'SAVEPOINT',
  'CURRENT_TIMESTAMP',
  'NOW()',
  'ENUM',
  'FOREIGN KEY',
  'foreignKey',
  'AUTO_INCREMENT',
  'isGenerated',
];

/** Longer than a statement of the service may take with the shortest timeout, and than its silence is borne. */
const SLOW_SECONDS = 3.5;
const SHORTEST_TIMEOUT_MS = '100';

/** Copies rows into a table, slowly. */
class SlowCopy1900000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE TABLE slow_copy AS SELECT SLEEP(${SLOW_SECONDS}) AS interrupted`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('slow_copy');
  }
}

async function tablesOf(dataSource: DataSource): Promise<string[]> {
  const rows: { name: string }[] = await dataSource.query(
    dataSource.options.type === 'better-sqlite3'
      ? `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
      : 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
  );
  return rows.map(({ name }) => name).filter((name) => name !== 'migrations');
}

onEachEngine('migrations', ({ url }) => {
  let dataSource: DataSource;
  let migrator: Migrator;

  beforeEach(async () => {
    dataSource = await connect(url);
    migrator = new Migrator(dataSource);
  });

  afterEach(async () => {
    for (const _ of NAMES) await dataSource.undoLastMigration();
    await dataSource.destroy();
  });

  it('are all pending on an empty database, and asking changes nothing', async () => {
    expect(await migrator.status()).toEqual(NAMES.map((name) => ({ name, applied: false })));
    expect(await migrator.isCurrent()).toBe(false);
    expect(await tablesOf(dataSource)).toEqual([]);
  });

  it('are all applied after a run, which names them', async () => {
    expect(await migrator.migrate()).toEqual(NAMES);
    expect(await migrator.status()).toEqual(NAMES.map((name) => ({ name, applied: true })));
    expect(await migrator.isCurrent()).toBe(true);
  });

  it('make exactly what the entities describe', async () => {
    await migrator.migrate();

    expect(await tablesOf(dataSource)).toHaveLength(entities.length);
    expect(await missingStatements(dataSource)).toEqual([]);
  });

  it('do nothing in a second run, from this process or another', async () => {
    await migrator.migrate();
    const tables = await tablesOf(dataSource);
    const another = await connect(url);

    expect(await migrator.migrate()).toEqual([]);
    expect(await new Migrator(another).migrate()).toEqual([]);
    expect(await tablesOf(another)).toEqual(tables);
    await another.destroy();
  });

  it('can be run by several processes that start one after another', async () => {
    const others = await Promise.all([connect(url), connect(url), connect(url)]);
    const migrators = [migrator, ...others.map((other) => new Migrator(other))];
    const ran = await Promise.all(
      migrators.map(async (each, place) => {
        await sleep(place * 25);
        return each.migrate();
      }),
    );
    await Promise.all(others.map((other) => other.destroy()));
    const rows: unknown[] = await dataSource.query('SELECT name FROM migrations');

    expect(ran.flat().length).toBeGreaterThanOrEqual(NAMES.length);
    expect(rows).toEqual(NAMES.map((name) => ({ name })));
    expect(await missingStatements(dataSource)).toEqual([]);
  });

  it(
    'can be run by several processes that start at the same moment',
    { timeout: 60_000 },
    async () => {
      const others = await Promise.all([connect(url), connect(url), connect(url)]);
      const migrators = [migrator, ...others.map((other) => new Migrator(other))];
      for (let round = 0; round < ROUNDS; round += 1) {
        await dataSource.query('DROP TABLE IF EXISTS migrations');
        await Promise.all(migrators.map((each) => each.migrate()));
        expect(await missingStatements(dataSource)).toEqual([]);
        for (const _ of NAMES) await dataSource.undoLastMigration();
      }
      await Promise.all(others.map((other) => other.destroy()));
    },
  );

  it('can be undone, which leaves no table behind, and made again', async () => {
    await migrator.migrate();
    for (const _ of NAMES) await dataSource.undoLastMigration();

    expect(await tablesOf(dataSource)).toEqual([]);
    expect(await migrator.isCurrent()).toBe(false);

    expect(await migrator.migrate()).toEqual(NAMES);
    expect(await missingStatements(dataSource)).toEqual([]);
  });
});

onEachServer('migrations on a server', ({ url }) => {
  it('go on where a broken run stopped', async () => {
    const dataSource = await connect(url);
    const migrator = new Migrator(dataSource);
    await migrator.migrate();
    await dataSource.query('DROP TABLE posts, job_runs');
    await dataSource.query('DELETE FROM migrations');

    expect(await migrator.migrate()).toEqual(NAMES);
    expect(await missingStatements(dataSource)).toEqual([]);
    await dataSource.destroy();
  });

  it(
    'take as long as they need, whatever the limit of a statement',
    { timeout: 30_000 },
    async () => {
      const { database } = loadConfig({ DATABASE_URL: url, DB_TIMEOUT_MS: SHORTEST_TIMEOUT_MS });
      const dataSource = await new DataSource({
        ...(await dataSourceOptions(database, [])),
        migrations: [SlowCopy1900000000000],
      }).initialize();
      try {
        expect(await new Migrator(dataSource).migrate()).toEqual([SlowCopy1900000000000.name]);
        const [copied]: object[] = await dataSource.query(
          'SELECT CONCAT(interrupted) AS value FROM slow_copy',
        );
        expect(copied).toEqual({ value: '0' });
        const slowRead = `SELECT interrupted, SLEEP(${SLOW_SECONDS}) FROM slow_copy`;
        await expect(dataSource.query(slowRead)).rejects.toSatisfy(isDatabaseUnavailable);
      } finally {
        await dataSource.destroy();
      }
    },
  );

  it('give every text column a Unicode character set that compares code points', async () => {
    const dataSource = await connect(url);
    await new Migrator(dataSource).migrate();
    const rows: { name: string }[] = await dataSource.query(
      `SELECT DISTINCT collation_name AS name FROM information_schema.columns
       WHERE table_schema = DATABASE() AND table_name <> 'migrations' AND collation_name IS NOT NULL`,
    );
    await dataSource.destroy();

    expect(rows).toHaveLength(1);
    expect(rows[0]?.name).toMatch(/^utf8mb4_(0900|nopad)_bin$/);
  });
});

describe('the sources of the migrations', () => {
  it.each(FORBIDDEN)('do not contain %s', async (word) => {
    const files = await readdir(FOLDER);
    const sources = await Promise.all(files.map((file) => readFile(`${FOLDER}/${file}`, 'utf8')));
    const offending = files.filter((_, index) =>
      sources[index]?.toLowerCase().includes(word.toLowerCase()),
    );

    expect(files.length).toBeGreaterThanOrEqual(NAMES.length);
    expect(offending).toEqual([]);
  });

  it('are listed one and all, oldest first', async () => {
    const stamped = (await readdir(FOLDER)).filter((file) => /^\d/.test(file)).toSorted();
    const names = stamped.map((file) => file.replace(/^(\d+)-(.+)\.ts$/, '$2$1'));

    expect(NAMES).toEqual(names);
  });
});
