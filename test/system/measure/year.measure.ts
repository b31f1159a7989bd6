import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { writeResults } from '../../../bench/write-results.js';
import { addMilliseconds, HOUR, MINUTE } from '../../../src/platform/clock.js';
import { SCOPES } from '../../../src/platform/access/scopes.js';
import { periodOf } from '../../../src/modules/quota/quota-period.js';
import { cleanUp } from '../../support/background.js';
import { SHORT_REQUESTS } from '../../support/command-line.js';
import { startPrivateServer } from '../../support/database-server.js';
import { ordinaryUser } from '../../support/database-user.js';
import { DURABLE_SETTINGS } from '../../support/server-by-command.js';
import { runSql, serverVersion } from '../../support/sql.js';
import { TestApp, type TestClient } from '../../support/test-app.js';
import { YearChecks } from './year/checks.js';
import { RETENTION_ENV, YearCommands } from './year/commands.js';
import { OperatorCommands } from './year/operators.js';
import { type MonthFigures, slowStatements, yearTables, type YearFigures } from './year/report.js';
import {
  APPS,
  HTTP_APPS,
  type Month,
  MONTHS,
  SHARE,
  USERS,
  userId,
  YearTables,
} from './year/tables.js';
import { type Answered, HTTP_APP_LIMIT, sendCalls } from './year/traffic.js';

/**
 * A year of a network of 100,000 members, 300 apps and 20 million calls: `npm run measure:year`. `YEAR_SHARE` sets a share of it, such as
 * 0.01. Most rows are written by SQL, and one call in a hundred is sent by HTTP. At the end of each month, the jobs run by command.
 * With `WRITE_PAGES=1`, the tables are written to docs/performance.md.
 */
const SETTINGS = [
  ...DURABLE_SETTINGS,
  '--innodb-buffer-pool-size=4G',
  '--innodb-log-file-size=1G',
  '--innodb-file-per-table=ON',
  '--max-allowed-packet=64M',
];
/** Ten minutes after the end of a month, when the jobs have run. */
const JOBS_AFTER_MS = 10 * MINUTE;
const ERASED_PER_MONTH = 3;
/** A prune begins some seconds after its command. */
const START_MS = 5000;
/** Users of the HTTP calls: from the middle, so that they are not erased. */
const FIRST_HTTP_USER = Math.floor(USERS / 2);

describe(`A year, share ${SHARE}`, () => {
  it('resets quotas, reports and prunes right', { timeout: 3 * HOUR }, async () => {
    const server = await startPrivateServer('mariadb', { settings: SETTINGS });
    if (!server) throw new Error('MariaDB is not installed.');
    const folder = await mkdtemp(join(tmpdir(), 'platform-year-'));
    const { url } = await ordinaryUser(server.url);
    const administrator = new URL(server.url);
    administrator.pathname = new URL(url).pathname;
    const app = await TestApp.start({ url: administrator.href }, RETENTION_ENV);
    const pool = mysql.createPool({ uri: administrator.href, timezone: 'Z', connectionLimit: 1 });
    try {
      const year = new Year(app, new YearTables(pool), new YearCommands(server.url, url));
      await year.register();
      for (const month of MONTHS) await year.month(month);
      const figures = await year.end(folder, () => logSlowStatements(server.url));
      const slow = await slowStatements(year.tables);
      const version = await serverVersion(server.url);
      const tables = yearTables(figures);
      process.stdout.write(`${tables}\n${JSON.stringify(slow, null, 2)}\n`);
      if (process.env.WRITE_PAGES === '1') {
        const command = `${SHARE === 1 ? '' : `YEAR_SHARE=${SHARE} `}npm run measure:year`;
        await writeResults('year', { command, server: version }, figures, tables);
      }
      expect(year.problems).toEqual([]);
    } finally {
      await cleanUp(
        () => pool.end(),
        () => app.stop(),
        () => server.stop(),
        () => rm(folder, { recursive: true }),
      );
    }
  });
});

/** Logs statements of more than a second, with their text. */
async function logSlowStatements(serverUrl: string): Promise<void> {
  for (const setting of ["log_output = 'TABLE'", 'long_query_time = 1', 'slow_query_log = ON'])
    await runSql(serverUrl, `SET GLOBAL ${setting}`);
}

class Year {
  readonly problems: string[] = [];
  private readonly checks: YearChecks;
  private readonly months: MonthFigures[] = [];
  private readonly startedAt = performance.now();
  private clients: TestClient[] = [];
  private erased = 0;

  constructor(
    private readonly app: TestApp,
    readonly tables: YearTables,
    private readonly commands: YearCommands,
  ) {
    this.checks = new YearChecks(tables);
  }

  /** Two apps in three are confidential; one in ten is a test app. */
  async register(): Promise<void> {
    this.app.clock.set('2025-12-31T00:00:00.000Z');
    for (let number = 0; number < APPS; number += 1)
      this.clients.push(
        await this.app.addClient({
          name: `App ${number}`,
          kind: number % 3 === 2 && number < APPS - HTTP_APPS ? 'public' : 'confidential',
          redirectUris: [`https://app-${number}.example/callback`],
          scope: SCOPES.join(' '),
          test: number % 10 === 9 && number < APPS - HTTP_APPS,
        }),
      );
    await this.tables.prepare(this.clients.map(({ clientId }) => clientId));
    const limits = this.clients.map(({ clientId }, number) =>
      number < APPS - HTTP_APPS
        ? `('${clientId}', 'custom', ${number % 2 === 0 ? 1_000_000 : 'NULL'})`
        : `('${clientId}', 'custom', ${HTTP_APP_LIMIT})`,
    );
    await this.tables.query(
      `INSERT INTO app_quotas (client_id, plan, monthly_post_limit) VALUES ${limits.join(', ')}`,
    );
  }

  private get httpClients(): TestClient[] {
    return this.clients.slice(-HTTP_APPS);
  }

  private check(what: string, actual: unknown, expected: unknown): void {
    const [is, should] = [actual, expected].map((value) => JSON.stringify(value));
    if (is === should) return;
    this.problems.push(`${what}: ${is?.slice(0, 500)} instead of ${should?.slice(0, 500)}`);
    this.log(`PROBLEM ${this.problems.at(-1)}`);
  }

  private log(text: string): void {
    const seconds = Math.round((performance.now() - this.startedAt) / 1000);
    process.stdout.write(`${seconds} s: ${text}\n`);
  }

  async month(month: Month): Promise<void> {
    const { period } = month;
    await this.tables.fillMonth(month, this.erased);
    this.log(`${period}: filled`);
    const httpStartedAt = performance.now();
    const answered = await sendCalls(this.app, this.httpClients, month, FIRST_HTTP_USER);
    const httpSeconds = (performance.now() - httpStartedAt) / 1000;
    this.log(`${period}: ${answered.calls} calls by HTTP`);
    this.checkQuotas(period, answered);
    const now = addMilliseconds(month.to, JOBS_AFTER_MS);
    this.app.clock.set(now.toISOString());
    const seconds = await this.runJobs(month, now);
    await this.checkReports(month, now);
    this.log(`${period}: reported`);
    await this.operate(now);
    const { prune, deleted } = await this.prune(now);
    const rows = await this.tables.rows();
    this.months.push({
      period,
      http: { requests: answered.calls + answered.refreshes, seconds: httpSeconds },
      seconds: { ...seconds, prune },
      deleted,
      rows,
      bytes: await this.tables.bytes(),
    });
    this.log(`${period}: pruned ${deleted} rows in ${prune.toFixed(1)} s`);
  }

  /** Each app of the HTTP calls published until its limit of the month, which begins at 0. */
  private checkQuotas(period: string, { published, rejected, unexpected }: Answered): void {
    this.check(`${period} unexpected responses`, unexpected.slice(0, 5), []);
    for (const { clientId } of this.httpClients) {
      const tried = (published.get(clientId) ?? 0) + (rejected.get(clientId) ?? 0);
      const allowed = Math.min(tried, HTTP_APP_LIMIT);
      this.check(`${period} posts of ${clientId}`, published.get(clientId) ?? 0, allowed);
    }
  }

  private async runJobs(
    month: Month,
    now: Date,
  ): Promise<{ rollUp: number; reset: number; reconcile: number }> {
    const { period } = month;
    const rollUp = await this.commands.json<{ day: string; calls: number }[]>(now, [
      'usage',
      'rollup',
    ]);
    const reset = await this.commands.json<{ closed: number; previous: { posts: number } }>(now, [
      'quota',
      'reset',
    ]);
    const apps = await this.checks.ofApps(month);
    const posts = [...apps.values()].reduce((sum, one) => sum + one.posts, 0);
    const publishers = [...apps.values()].filter((one) => one.posts > 0).length;
    this.check(`${period} reset`, reset.result, {
      period: periodOf(month.to),
      closed: publishers,
      previous: { period, apps: publishers, posts },
    });
    const reconcile = await this.commands.json<unknown[]>(now, [
      'quota',
      'reconcile',
      '--period',
      period,
    ]);
    this.check(`${period} reconcile`, reconcile.result, []);
    return { rollUp: rollUp.seconds, reset: reset.seconds, reconcile: reconcile.seconds };
  }

  private async checkReports(month: Month, now: Date): Promise<void> {
    const { period, from, to } = month;
    const apps = await this.checks.ofApps(month);
    type Line = { client_id: string; used: number; calls: number; limit: number | null };
    const quota = await this.commands.json<Line[]>(now, ['quota', 'report', '--period', period]);
    const limits = new Map(quota.result.map((line) => [line.client_id, line.limit]));
    this.check(
      `${period} quota report`,
      quota.result.map(({ client_id, used, calls }) => [client_id, used, calls]).toSorted(byFirst),
      this.clients
        .filter(({ clientId }) => !clientId.startsWith('svc_app_test_'))
        .map(({ clientId }) => [
          clientId,
          apps.get(clientId)?.posts ?? 0,
          apps.get(clientId)?.calls ?? 0,
        ])
        .toSorted(byFirst),
    );
    // An app that did not publish has no limit in the report of a past month.
    for (const { clientId } of this.httpClients.filter((one) => apps.get(one.clientId)?.posts))
      this.check(`${period} limit`, limits.get(clientId), HTTP_APP_LIMIT);
    const days = [
      '--since',
      from.toISOString().slice(0, 10),
      '--until',
      to.toISOString().slice(0, 10),
    ];
    for (const [by, member, column] of [
      ['day', 'day', "DATE_FORMAT(at, '%Y-%m-%d')"],
      ['app', 'client_id', 'client_id'],
      ['route', 'route', 'route'],
      ['status', 'status', 'status'],
      ['error', 'error_code', 'error_code'],
    ] as const) {
      const usage = await this.commands.json<Record<string, string | number>[]>(now, [
        'usage',
        'report',
        '--by',
        by,
        ...days,
      ]);
      const reported = usage.result.map((line) => [String(line[member]), line.calls]);
      const counted = Object.entries(await this.checks.callsBy(column, month));
      this.check(`${period} usage by ${by}`, reported.toSorted(byFirst), counted.toSorted(byFirst));
    }
    const passwords = await this.commands.json<{ result: string; total: number }[]>(now, [
      'otp',
      'report',
      '--by',
      'result',
      '--since',
      from.toISOString(),
    ]);
    this.check(
      `${period} otp report`,
      passwords.result
        .filter(({ total }) => total > 0)
        .map(({ result, total }) => [result, total])
        .toSorted(byFirst),
      Object.entries(await this.checks.passwordsByResult(from)).toSorted(byFirst),
    );
  }

  /** Rotates a secret, revokes a grant, disables an app for a moment, and erases some members. */
  private async operate(now: Date): Promise<void> {
    const client = this.httpClients[this.months.length % HTTP_APPS];
    if (!client) throw new Error('There is no app.');
    const { result } = await this.commands.json<{ client_secret: string }>(now, [
      'app',
      'secret',
      'rotate',
      client.clientId,
      '--grace',
      '0',
    ]);
    client.secret = result.client_secret;
    const [grant] = await this.tables.query<{ id: string }>(
      'SELECT id FROM grants WHERE revoked_at IS NULL ORDER BY id DESC LIMIT 1 OFFSET 100',
    );
    await this.commands.json(now, ['grant', 'revoke', grant?.id ?? '']);
    await this.commands.json(now, ['app', 'disable', client.clientId]);
    await this.commands.json(now, ['app', 'enable', client.clientId]);
    const ids = Array.from({ length: ERASED_PER_MONTH }, (_, number) =>
      userId(this.erased + number),
    );
    this.erased += ERASED_PER_MONTH;
    const calls = await this.tables.count('api_calls WHERE user_id IN (?)', [ids]);
    const before = await this.tables.count('api_calls WHERE user_id IS NULL');
    const erase = (id: string) => this.commands.json(now, ['user', 'erase', id], SHORT_REQUESTS);
    await Promise.all(ids.map(erase));
    for (const table of ['posts', 'comments', 'post_likes', 'grants', 'api_calls'])
      this.check(
        `${table} of erased users`,
        await this.tables.count(`${table} WHERE user_id IN (?)`, [ids]),
        0,
      );
    this.check('erased users', await this.tables.count('users WHERE id IN (?)', [ids]), 0);
    const after = await this.tables.count('api_calls WHERE user_id IS NULL');
    this.check('calls without a user', after - before, calls);
  }

  /** Prunes, and compares every table with the rows that it may have lost. */
  private async prune(now: Date): Promise<{ prune: number; deleted: number }> {
    type Deleted = { total: number; tables: Record<string, number> };
    const least = await this.checks.expired(now);
    const most = await this.checks.expired(addMilliseconds(now, START_MS));
    const compare = (what: string, counts: Record<string, number>): void => {
      for (const table of new Set([...Object.keys(least), ...Object.keys(counts)])) {
        const count = counts[table] ?? 0;
        const [min, max] = [least[table] ?? 0, most[table] ?? 0];
        if (count < min || count > max)
          this.check(`${now.toISOString()} ${what} ${table}`, count, `${min} to ${max}`);
      }
    };
    const preview = await this.commands.json<Deleted>(now, ['prune', '--dry-run']);
    compare('prune --dry-run', preview.result.tables);
    const before = await this.tables.rows();
    const { result, seconds } = await this.commands.json<Deleted>(now, ['prune']);
    compare('prune', result.tables);
    const after = await this.tables.rows();
    // The command records its run.
    const added: Record<string, number> = { audit_events: 1, job_runs: 1 };
    for (const [table, rows] of Object.entries(before))
      this.check(
        `${now.toISOString()} rows of ${table} after prune`,
        after[table],
        rows - (result.tables[table] ?? 0) + (added[table] ?? 0),
      );
    return { prune: seconds, deleted: result.total };
  }

  /** Measures every command. @param logSlow called before */
  async end(folder: string, logSlow: () => Promise<void>): Promise<YearFigures> {
    const now = addMilliseconds(MONTHS.at(-1)?.to ?? new Date(), 2 * JOBS_AFTER_MS);
    this.app.clock.set(now.toISOString());
    const [client] = this.httpClients;
    if (!client) throw new Error('There is no app.');
    const token = await this.app.accessToken({ id: userId(FIRST_HTTP_USER) }, client);
    await logSlow();
    const operators = new OperatorCommands(this.commands, this.tables, now);
    await operators.runAll({
      userId: userId(this.erased),
      clientId: this.clients[0]?.clientId ?? '',
      testClientId: this.clients[9]?.clientId ?? '',
      token,
      since: addMilliseconds(now, -HOUR).toISOString(),
      folder,
    });
    // The server writes the log after the response.
    await sleep(1000);
    this.check('commands not measured', operators.missing(), []);
    for (const { command, code, stderr } of operators.timed)
      if (code !== 0) this.check(command, stderr, '');
    return {
      months: this.months,
      commands: operators.timed,
      minutes: Math.round((performance.now() - this.startedAt) / MINUTE),
    };
  }
}

function byFirst([one]: readonly unknown[], [other]: readonly unknown[]): number {
  return String(one) < String(other) ? -1 : 1;
}
