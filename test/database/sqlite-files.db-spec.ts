import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import type { DataSource } from 'typeorm';
import { connect, onSqlite } from '../support/database.js';

/** The open files of this process, on Linux. */
const OPEN_FILES = '/proc/self/fd';
/** Enough rows to exceed SQLite's memory for the changed pages of a statement. Each random key changes a page. */
const STORED_ROWS = 3000;
const ADDED_ROWS = 300;

/** Searches the open files, because SQLite unlinks its temporary files, named `etilqs_…`, once they are open. */
function openTemporaryFiles(): string[] {
  const targetOf = (descriptor: string): string => {
    try {
      return readlinkSync(join(OPEN_FILES, descriptor));
    } catch {
      // The descriptor of `readdirSync` is already closed.
      return '';
    }
  };
  return readdirSync(OPEN_FILES)
    .map(targetOf)
    .filter((target) => target.includes('etilqs_'));
}

/** @param numberSql an SQL expression for the number `i` of a row */
function insertScattered(rows: number, { numberSql = 'i' } = {}): string {
  return `WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${rows})
    INSERT INTO scattered SELECT hex(randomblob(64)), ${numberSql} FROM numbers`;
}

/** SQLITE_SYNC_FULL: a commit returns after its data is on the disk. */
const FULL = 2;

onSqlite('Files of SQLite', ({ url }) => {
  let dataSource: DataSource;
  beforeAll(async () => {
    dataSource = await connect(url);
  });
  afterAll(() => dataSource?.destroy());

  it('have every commit on the disk, which is not the default of the driver', async () => {
    expect(await dataSource.query('PRAGMA synchronous')).toEqual([{ synchronous: FULL }]);
  });

  it.skipIf(!existsSync(OPEN_FILES))(
    'need no temporary journal of a statement, so that the service runs on a read-only file system',
    async () => {
      const seen = new Set<string>();
      const { driver } = dataSource;
      const { databaseConnection } = driver as typeof driver & {
        databaseConnection: Sqlite.Database;
      };
      databaseConnection.function('record_files', (value) => {
        for (const file of openTemporaryFiles()) seen.add(file);
        return value;
      });
      await dataSource.query('CREATE TABLE scattered (random TEXT PRIMARY KEY, i INT NOT NULL)');
      await dataSource.query(insertScattered(STORED_ROWS));
      await dataSource.transaction((manager) =>
        manager.query(insertScattered(ADDED_ROWS, { numberSql: 'record_files(i)' })),
      );
      await dataSource.query('DROP TABLE scattered');
      expect([...seen]).toEqual([]);
    },
  );
});
