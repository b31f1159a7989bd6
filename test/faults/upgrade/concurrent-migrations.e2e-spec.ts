import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { Migrator } from '../../../src/platform/database/migrations/migrator.js';
import { connect, onEachServer } from '../../support/database.js';
import { releasedDatabase, restore } from '../../support/released.js';
import { reportFigure } from '../figures.js';
import { byExtent } from '../../suite.js';

const RELEASE = '1.0.0';
/** Many times the shortest lock timeout of a server, one second. */
const WAIT_MS = byExtent({ whole: 20_000, quick: 3000 });
const SETTINGS = { DB_TIMEOUT_MS: '1000' };

onEachServer('Two processes that migrate', (database) => {
  beforeAll(async () => restore(database, await releasedDatabase(RELEASE, database)), 120_000);

  it(`wait for each other, even for ${WAIT_MS / 1000} s`, { timeout: 60_000 }, async ({ task }) => {
    const first = await mysql.createConnection(database.url);
    const dataSource = await connect(database.url, SETTINGS);
    onTestFinished(async () => {
      first.destroy();
      await dataSource.destroy();
    });
    const migrator = new Migrator(dataSource);
    // Stands for the first process, which migrates.
    await first.query(`SELECT GET_LOCK(CONCAT('migrate.', DATABASE()), 0)`);
    let isDone = false;
    const second = migrator.migrate().then((applied) => {
      isDone = true;
      return applied;
    });
    await sleep(WAIT_MS);
    expect(isDone).toBe(false);
    await first.query('SELECT RELEASE_ALL_LOCKS()');
    expect(await second).not.toEqual([]);
    expect(await migrator.difference()).toEqual({ pending: [], unknown: [], statements: [] });
    reportFigure(
      task,
      `${database.engine.label}: a migration waited ${WAIT_MS / 1000} s for another one, then completed`,
    );
  });
});
