import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import type { DataSource } from 'typeorm';
import { Migrator } from '../../../src/platform/database/migrations/migrator.js';
import { CommandLine, runCommandProcess } from '../../support/command-line.js';
import { connect, onEachEngine, onOneServer, type TestDatabase } from '../../support/database.js';
import { schemaOf } from '../../support/released.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { reportFigure } from '../figures.js';
import { IS_QUICK, byExtent } from '../../suite.js';
import { expectPreserved } from './preserved-rows.js';
import { usedDatabase } from './used-database.js';

const RELEASE = '1.0.0';
/** One kill in each direction for each of the steps below. */
const KILLS = byExtent({ whole: 6, quick: 1 });
/** SQLite migrates in one transaction. */
const KILLS_SQLITE = byExtent({ whole: 2, quick: 1 });
const KILL_TIMEOUT_MS = 75_000;
/** Timeout for the command to reach its step. */
const STEP_TIMEOUT_MS = 60_000;
/** Short enough to see the file locked during a migration. */
const POLL_MS = 2;

/** Statements in the middle of the migration, in order. */
const MIGRATE_STEPS = [
  'ADD `client_id`',
  'ADD `closed_limit`',
  'UPDATE audit_events',
  'CREATE INDEX `ix_audit_events_client_id`',
  'CREATE INDEX `ix_idempotency_keys_user_id`',
  'CREATE INDEX `ix_comments_deleted_at`',
];
/** Statements in the middle of the revert, in order. */
const REVERT_STEPS = [
  'DROP INDEX `ix_audit_events_client_id`',
  'DROP COLUMN `user_id`',
  'DROP INDEX `ix_otp_challenges_phone`',
  'DROP COLUMN `closed_plan`',
  'DROP INDEX `ix_comments_deleted_at`',
  'DELETE FROM migrations WHERE name',
];

/**
 * Starts a command and kills it: on a server after the statement `step`, on SQLite once it has a write lock. Returns whether the
 * kill was in time: on a stalled machine, the test may see the lock too late.
 */
type Kill = (args: readonly string[], step: string) => Promise<boolean>;

function spawnCommand(url: string, args: readonly string[]) {
  return spawn(process.execPath, ['dist/src/bundle/cli.js', ...args], {
    env: { PATH: process.env.PATH, DATABASE_URL: url },
    stdio: 'ignore',
  });
}

function killerOnServer({ url }: TestDatabase): Kill {
  return async (args, step) => {
    const proxy = await TcpProxy.start(url);
    const child = spawnCommand(proxy.url, args);
    const ended = once(child, 'exit');
    const deadline = sleep(STEP_TIMEOUT_MS, 'late', { ref: false });
    expect(await Promise.race([proxy.holdAfter(step), deadline]), step).not.toBe('late');
    child.kill('SIGKILL');
    expect(await ended, step).toEqual([null, 'SIGKILL']);
    await proxy.stop();
    return true;
  };
}

function killerOnFile({ url }: TestDatabase): Kill {
  const file = new Sqlite(url.slice('sqlite:'.length), { timeout: 0 });
  onTestFinished(() => void file.close());
  return async (args) => {
    const child = spawnCommand(url, args);
    const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
    while (child.exitCode === null && !isLocked(file)) await sleep(POLL_MS);
    child.kill('SIGKILL');
    const [, signal] = await ended;
    return signal === 'SIGKILL';
  };
}

function isLocked(file: Sqlite.Database): boolean {
  try {
    file.exec('BEGIN IMMEDIATE; ROLLBACK');
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 'SQLITE_BUSY' });
    return true;
  }
}

(IS_QUICK ? onOneServer : onEachEngine)('Migration killed repeatedly', (database) => {
  const isFile = database.engine.kind === 'sqlite';
  const kills = isFile ? KILLS_SQLITE : KILLS;
  let dataSource: DataSource | undefined;
  afterAll(() => dataSource?.destroy());

  it(
    `completes in the next run, forward and back, ${kills} times, and loses no row`,
    { timeout: 120_000 + 2 * kills * KILL_TIMEOUT_MS },
    async ({ task }) => {
      const used = await usedDatabase(database);
      dataSource = await connect(database.url);
      const migrator = new Migrator(dataSource);
      const released = await schemaOf(database);
      await new CommandLine(database, runCommandProcess).json('db', 'migrate');
      const kill = isFile ? killerOnFile(database) : killerOnServer(database);
      const current = await schemaOf(database);
      let [killed, partial] = [0, 0];
      const countPartial = async (): Promise<void> => {
        const schema = JSON.stringify(await schemaOf(database));
        if (![released, current].some((whole) => JSON.stringify(whole) === schema)) partial += 1;
      };
      for (let number = 0; number < kills; number += 1) {
        const stepIndex = Math.floor((MIGRATE_STEPS.length * (number + Math.random())) / kills);
        if (await kill(['db', 'revert', RELEASE, '--yes'], REVERT_STEPS[stepIndex] ?? ''))
          killed += 1;
        await countPartial();
        await migrator.revert(RELEASE, async () => undefined);
        expect(await schemaOf(database)).toEqual(released);
        if (await kill(['db', 'migrate'], MIGRATE_STEPS[stepIndex] ?? '')) killed += 1;
        await countPartial();
        await migrator.migrate();
        expect(await schemaOf(database)).toEqual(current);
        await expectPreserved(database, used);
      }
      expect(await migrator.difference()).toEqual({ pending: [], unknown: [], statements: [] });
      expect(killed).toBeGreaterThanOrEqual(kills);
      // SQLite migrates in one transaction; on a server, each killed migration leaves steps to do.
      if (isFile) expect(partial).toBe(0);
      else expect(partial).toBeGreaterThanOrEqual(kills);
      const filled = Object.values(used.rows).filter(({ length }) => length > 0).length;
      reportFigure(
        task,
        `${database.engine.label}: ${killed} kills of "db migrate" and "db revert", ${partial} of them left a partial schema; the next run completed it, and no row of ${filled} tables was lost`,
      );
    },
  );
});
