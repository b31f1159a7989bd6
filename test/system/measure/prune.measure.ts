import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { DAY, HOUR, addMilliseconds } from '../../../src/platform/clock.js';
import { ApiCall } from '../../../src/modules/quota/quota.entities.js';
import { UsageRollup } from '../../../src/modules/quota/calls/usage-rollup.service.js';
import { Retention } from '../../../src/modules/operations/retention.js';
import { onEachEngine, type TestDatabase } from '../../support/database.js';
import { recordCalls } from '../../support/fixtures.js';
import { Member } from '../../support/member.js';
import { runSql } from '../../support/sql.js';
import { useTestApp } from '../../support/test-app.js';
import { requestsDuring } from './request-load.js';

/**
 * Measures the pruning of a long call log: `npm run measure:prune`. `MEASURE_ROWS` sets the number of rows
 * (default five million). The figures depend on the machine: they are printed, not asserted.
 */
const ROWS = Number(process.env.MEASURE_ROWS ?? 5_000_000);
/** One id suffix for each doubling of the rows. */
const ID_SUFFIXES = [...'ABCDEFGH'];
const TIMEOUT_MS = 2 * HOUR;

onEachEngine(`Pruning ${ROWS} calls`, (database) => {
  const app = useTestApp(database);

  it('measures the command in its own process', { timeout: TIMEOUT_MS }, async () => {
    await fill(database, app().dataSource);
    const startedAt = performance.now();
    const command = spawn(process.execPath, ['dist/src/bundle/cli.js', 'prune', '--json'], {
      env: { PATH: process.env.PATH, NODE_ENV: 'test', DATABASE_URL: database.url },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exit = once(command, 'exit');
    let printed = '';
    command.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    let peakMegabytes = 0;
    while (command.exitCode === null) {
      peakMegabytes = peakResidentMegabytes(command.pid) ?? peakMegabytes;
      await sleep(250);
    }
    await exit;
    print(database, 'command', {
      seconds: secondsSince(startedAt),
      peakResidentMegabytes: peakMegabytes,
      deleted: (JSON.parse(printed) as { total: number }).total,
    });
    expect(await app().dataSource.manager.count(ApiCall)).toBe(0);
  });

  it('measures the service under load', { timeout: TIMEOUT_MS }, async () => {
    await fill(database, app().dataSource);
    app().clock.set(new Date().toISOString());
    const { token } = await Member.join(app());
    const url = `${app().baseUrl}/dev/v1/me`;
    print(
      database,
      'before the usage roll-up',
      await requestsDuring(url, token, () => sleep(15_000)),
    );
    const startedAt = performance.now();
    const during = await requestsDuring(url, token, async () => {
      await app().service(UsageRollup).run();
    });
    print(database, 'during the usage roll-up', { seconds: secondsSince(startedAt), ...during });
    const pruneStartedAt = performance.now();
    const pruning = await requestsDuring(url, token, () => app().service(Retention).run());
    print(database, 'while the rows are pruned', {
      seconds: secondsSince(pruneStartedAt),
      ...pruning,
    });
  });
});

/**
 * Inserts calls, the first 600 days ago and the last 500 days ago: some with `recordCalls`, then doubled by statements. On a
 * server, these need a connection without a statement timeout.
 */
async function fill({ url, engine }: TestDatabase, dataSource: DataSource): Promise<void> {
  const initialRows = Math.round(ROWS / 2 ** ID_SUFFIXES.length);
  const start = addMilliseconds(new Date(), -600 * DAY);
  const times = Array.from({ length: initialRows }, (_, number) =>
    addMilliseconds(start, (number * 100 * DAY) / initialRows),
  );
  await recordCalls(dataSource, times);
  const isSqlite = engine.kind === 'sqlite';
  const others = 'client_id, user_id, route, status, duration_ms, request_id, metered';
  for (const suffix of ID_SUFFIXES) {
    const id = isSqlite ? `id || '${suffix}'` : `CONCAT(id, '${suffix}')`;
    const double = `INSERT INTO api_calls (at, id, ${others}) SELECT at, ${id}, ${others} FROM api_calls`;
    await (isSqlite ? dataSource.query(double) : runSql(url, double));
  }
}

/** The largest resident memory of a process until now. Undefined if the process has ended. */
function peakResidentMegabytes(pid: number | undefined): number | undefined {
  try {
    const [, kilobytes] =
      /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1024);
  } catch {
    return undefined;
  }
}

function secondsSince(startedAt: number): number {
  return Math.round((performance.now() - startedAt) / 100) / 10;
}

function print({ engine }: TestDatabase, label: string, figures: object): void {
  process.stdout.write(`${engine.label}, ${label}: ${JSON.stringify(figures)}\n`);
}
