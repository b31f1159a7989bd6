import { parse } from 'csv-parse/sync';
import { nextPeriodStart, periodOf } from '../../src/modules/quota/quota-period.js';
import { ApiUsageDaily, QuotaUsage } from '../../src/modules/quota/quota.entities.js';
import { QuotaService, type QuotaAssignment } from '../../src/modules/quota/quota.service.js';
import { App } from '../../src/modules/oauth/clients/client.entities.js';
import { QuotaMonths } from '../../src/modules/quota/months/quota-months.service.js';
import { QuotaReconciliation } from '../../src/modules/quota/months/quota-reconciliation.service.js';
import { useCommands } from '../support/commands.js';
import { onOneEngine } from '../support/database.js';
import { skipCounterCheck } from '../support/invariants.js';
import { auditTrail } from '../support/logs.js';
import { deleteAllRows } from '../support/fixtures.js';
import { statementsWithoutBackground, flushDeferredWrites } from '../support/test-app.js';
import { Member } from '../support/member.js';

const CREATE = ['app', 'create', '--name', 'Tool Library', '--scope', 'posts.write'];
const REDIRECT_URI = ['--redirect-uri', 'https://garden.example/callback'];
const OPERATOR = { actor: 'test' };
const DAY = 86_400_000;

onOneEngine('Commands "quota show", "quota set" and "quota reset"', (database) => {
  skipCounterCheck(database);
  const { app, cli } = useCommands(database);
  const manager = () => app().dataSource.manager;

  async function register(): Promise<string> {
    return (await app().addClient()).clientId;
  }

  it('shows the default limit, the used and remaining posts, and the end of the month', async () => {
    const clientId = await register();
    const now = new Date();
    const period = periodOf(now);
    await manager().insert(QuotaUsage, { clientId, period, used: 30 });
    expect(await cli.json('quota', 'show', clientId)).toEqual({
      client_id: clientId,
      plan: 'default',
      limit: 100,
      used: 30,
      remaining: 70,
      period,
      resets_at: nextPeriodStart(now).toISOString(),
    });
    const { stdout } = await cli.run('quota', 'show', clientId);
    expect(stdout).toMatch(/^limit {6}100$/m);
    expect(stdout).toMatch(/^remaining {2}70$/m);
  });

  it('sets a number, no limit, a plan, and the default again, and prints the new and the previous quota', async () => {
    const clientId = await register();
    const set = ['quota', 'set', clientId, '--yes'];
    for (const [option, value, quota, previous] of [
      ['--limit', '1', { plan: 'custom', limit: 1, used: 0 }, 'the plan "default", 100 posts'],
      ['--limit', 'unlimited', { limit: null, remaining: null }, '1 post'],
      ['--plan', 'partner', { plan: 'partner', limit: 1000 }, 'no limit'],
      ['--limit', 'default', { plan: 'default', limit: 100 }, 'the plan "partner", 1000 posts'],
      ['--limit', '0', { limit: 0, remaining: 0 }, 'the plan "default", 100 posts'],
    ] as const) {
      const { stderr } = await cli.run(...set, option, value);
      expect(stderr).toBe(`Previously: ${previous}.\n`);
      expect(await cli.json(...set, option, value)).toMatchObject(quota);
    }
  });

  it('records actor, reason, and the old and new limit', async () => {
    const more = ['--limit', '20', '--actor', 'olga'];
    const { client_id: clientId } = await cli.json<{ client_id: string }>(
      ...[...CREATE, ...REDIRECT_URI, ...more],
    );
    expect(await cli.json('quota', 'show', clientId)).toMatchObject({ plan: 'custom', limit: 20 });
    await cli.json('quota', 'set', clientId, '--yes', '--plan', 'partner', '--reason', 'Signed');
    const trail = await auditTrail(app().dataSource, clientId);
    const quotaEvents = trail.filter(({ action }) => action === 'quota.set');
    expect(quotaEvents).toMatchObject([
      { actor: 'olga', reason: null, details: { plan: 'custom', limit: 20 } },
      {
        reason: 'Signed',
        details: { plan: 'partner', limit: 1000, before: { plan: 'custom', limit: 20 } },
      },
    ]);
  });

  it('rejects an unknown plan and changes nothing', async () => {
    const clientId = await register();
    const outcome = await cli.run('quota', 'set', clientId, '--yes', '--plan', 'gold');
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toBe(
      'There is no plan "gold". The plans are: default, partner, first-party.\n',
    );
    expect(await cli.json('quota', 'show', clientId)).toMatchObject({ plan: 'default' });
  });

  it('"quota reset" resets no counter, and reports the previous month', async () => {
    const clientId = await register();
    const period = periodOf(new Date());
    await manager().insert(QuotaUsage, { clientId, period, used: 7 });
    expect(await cli.json('quota', 'reset')).toEqual({
      period,
      closed: 0,
      previous: { period: expect.stringMatching(/^\d{4}-\d\d$/), apps: 0, posts: 0 },
    });
    expect(await cli.json('quota', 'show', clientId)).toMatchObject({ used: 7 });
    expect((await cli.run('quota', 'reset')).stdout).toContain(
      'Recorded plans and limits of earlier months in 0 rows.',
    );
  });

  it('writes before it reads in the transaction that sets a quota, so that SQLite needs no retry', async () => {
    const { clientId } = await app().addClient();
    const [begin, first] = await app().statementsOf(() =>
      app().service(QuotaService).set(clientId, { limit: 5 }, { actor: 'test' }),
    );
    expect(begin).toMatch(/^(BEGIN|START)/);
    expect(first).toMatch(/^UPDATE/);
  });
});

onOneEngine('Command "quota report"', (database) => {
  skipCounterCheck(database);
  const { app, cli } = useCommands(database);
  const manager = () => app().dataSource.manager;
  /** A past month for the commands, which use the real clock. */
  const period = '2026-10';

  beforeEach(async () => {
    await deleteAllRows(app().dataSource);
    app().clock.set('2026-10-11T00:00:00.000Z');
  });

  /** @param used null for an app without a counter */
  async function appThatUsed(
    used: number | null,
    { quota, name }: { quota?: QuotaAssignment; name?: string } = {},
  ) {
    const { clientId } = await app().addClient(name === undefined ? {} : { name });
    if (used !== null) await manager().insert(QuotaUsage, { clientId, period, used });
    if (quota) await app().service(QuotaService).set(clientId, quota, OPERATOR);
    return clientId;
  }
  const report = async (month?: string) => {
    const apps = await manager().find(App);
    return app().service(QuotaMonths).report(apps, month);
  };

  it('lists every app, sorted by the used percentage of its limit', async () => {
    const unused = await appThatUsed(null);
    const halfUsed = await appThatUsed(500, { quota: { plan: 'partner' } });
    const almostUsedUp = await appThatUsed(99);
    const unlimited = await appThatUsed(7000, { quota: { plan: 'first-party' } });
    const shown = await cli.json('quota', 'report', '--period', period);
    const common = { name: 'Garden Share', publisher: null, reference: null, calls: 0, period };
    expect(shown).toEqual([
      {
        ...common,
        ...{ client_id: almostUsedUp, plan: 'default', limit: 100, used: 99 },
        ...{ remaining: 1, percent: 99, projected: 99 },
      },
      {
        ...common,
        ...{ client_id: halfUsed, plan: 'partner', limit: 1000, used: 500 },
        ...{ remaining: 500, percent: 50, projected: 500 },
      },
      {
        ...common,
        ...{ client_id: unlimited, plan: 'first-party', limit: null, used: 7000 },
        ...{ remaining: null, percent: null, projected: 7000 },
      },
      {
        ...common,
        ...{ client_id: unused, plan: null, limit: null, used: 0 },
        ...{ remaining: null, percent: null, projected: 0 },
      },
    ]);
    const { stdout } = await cli.run('quota', 'report', '--period', period);
    expect(stdout.split('\n').slice(0, -1)).toEqual([
      'CLIENT_ID                           PLAN         LIMIT  USED  LEFT  %   END   CALLS  REFERENCE  PUBLISHER  NAME',
      `${almostUsedUp}  default      100    99    1     99  99    0      -          -          Garden Share`,
      `${halfUsed}  partner      1000   500   500   50  500   0      -          -          Garden Share`,
      `${unlimited}  first-party  none   7000  -     -   7000  0      -          -          Garden Share`,
      `${unused}  -            -      0     -     -   0     0      -          -          Garden Share`,
    ]);
  });

  it('shows the names of apps, cut at the width of a terminal only', async () => {
    const name = 'The Riverside Neighbourhood Garden Share and Tool Library';
    const clientId = await appThatUsed(7, { name });
    const words = ['quota', 'report', '--period', period];
    expect((await cli.run(...words)).stdout).toContain(`  -          ${name}\n`);
    expect((await cli.runAtTerminal(80, ...words)).stdout.split('\n')).toEqual([
      'CLIENT_ID                           LIMIT  USED  %  END  NAME',
      `${clientId}  100    7     7  7    The Riverside Neighbou…`,
      '',
    ]);
    const wide = (await cli.runAtTerminal(140, ...words)).stdout.split('\n');
    expect(wide[0]).toMatch(/ PLAN +LIMIT +USED +LEFT +% +END +CALLS +REFERENCE +PUBLISHER +NAME$/);
    expect(wide[1]).toHaveLength(140);
  });

  it('projects the posts at the end of the month from the elapsed part', async () => {
    await appThatUsed(33, { quota: { plan: 'first-party' } });
    expect(await report()).toMatchObject([{ used: 33, projected: 102 }]);
    app().clock.set('2026-10-01T00:00:00.001Z');
    expect(await report()).toMatchObject([{ projected: 33 * 31 }]);
    app().clock.set('2026-10-31T23:59:59.999Z');
    expect(await report()).toMatchObject([{ projected: 33 }]);
    app().clock.set('2026-12-05T00:00:00.000Z');
    expect(await report(period)).toMatchObject([{ projected: 33 }]);
  });

  it('projects no posts above the limit, and keeps those above a limit that was lowered', async () => {
    const clientId = await appThatUsed(60);
    expect(await report()).toMatchObject([{ projected: 100 }]);
    await app().service(QuotaService).set(clientId, { limit: 6 }, OPERATOR);
    expect(await report()).toMatchObject([{ used: 60, projected: 60 }]);
  });

  it('lists only apps that were registered by the end of the month, with publisher, reference and calls', async () => {
    const { clientId } = await app().addClient({ publisher: 'Garden Ltd', reference: 'C-1017' });
    const total = { clientId, route: 'GET /dev/v1/me', status: 200, calls: 7, errors: null };
    await manager().insert(ApiUsageDaily, [
      { ...total, day: '2026-09-30' },
      { ...total, day: '2026-10-01' },
      { ...total, day: '2026-10-31', status: 404 },
    ]);
    app().clock.set('2026-11-01T00:00:00.000Z');
    await app().addClient();
    const args = ['quota', 'report', '--period'];
    expect(await cli.json(...args, period)).toMatchObject([
      { client_id: clientId, publisher: 'Garden Ltd', reference: 'C-1017', calls: 14, plan: null },
    ]);
    expect(await cli.json(...args, '2024-01')).toEqual([]);
  });

  it('shows a past month with the plan and limit that the app had at its end', async () => {
    const clientId = await appThatUsed(80, { quota: { plan: 'partner' } });
    app().clock.set('2026-11-01T00:00:00.000Z');
    expect(await app().service(QuotaMonths).closeEarlier()).toMatchObject({ closed: 1 });
    await app().service(QuotaService).set(clientId, { limit: 10 }, OPERATOR);
    app().clock.set('2026-11-05T00:00:00.000Z');
    expect(await app().service(QuotaMonths).closeEarlier()).toMatchObject({ closed: 0 });
    const ended = { plan: 'partner', limit: 1000, used: 80, percent: 8 };
    expect(await report(period)).toMatchObject([ended]);
    expect(await report()).toMatchObject([{ plan: 'custom', limit: 10, used: 0 }]);
    const row = await manager().findOneByOrFail(QuotaUsage, { clientId, period });
    expect(row.closedAt).toEqual(new Date('2026-11-01T00:00:00.000Z'));
  });

  it('records that a month ended without a limit', async () => {
    const clientId = await appThatUsed(80, { quota: { limit: null } });
    app().clock.set('2026-11-01T00:00:00.000Z');
    await app().service(QuotaMonths).closeEarlier();
    await app().service(QuotaService).set(clientId, { limit: 10 }, OPERATOR);
    expect(await report(period)).toMatchObject([{ limit: null, remaining: null, percent: null }]);
  });

  it('prints CSV whose cells a spreadsheet does not execute as formulas', async () => {
    const names = [
      '=HYPERLINK("http://evil.example")',
      '+1',
      '-2+3',
      '@SUM(A1)',
      'Plain, "quoted"',
    ];
    for (const name of names) await appThatUsed(1, { name });
    const { code, stdout } = await cli.run('quota', 'report', '--period', period, '--csv');
    expect(code).toBe(0);
    const rows: Record<string, string>[] = parse(stdout, { columns: true });
    expect(Object.keys(rows[0] ?? {})).toEqual([
      ...['client_id', 'name', 'publisher', 'reference', 'plan', 'limit', 'used', 'remaining'],
      ...['percent', 'projected', 'calls', 'period'],
    ]);
    expect(rows.map(({ name }) => name).toSorted()).toEqual(
      [...names.slice(0, 4).map((name) => `'${name}`), 'Plain, "quoted"'].toSorted(),
    );
    expect(rows[0]).toMatchObject({
      plan: 'default',
      limit: '100',
      used: '1',
      percent: '1',
      period,
    });
  });

  it('prints only the CSV header when there is no app', async () => {
    const { stdout } = await cli.run('quota', 'report', '--csv');
    expect(stdout).toMatch(/^client_id,name,[a-z,]+period\n$/);
    expect(await cli.json('quota', 'report')).toEqual([]);
  });

  it('rejects a month in the future', async () => {
    expect(await cli.run('quota', 'report', '--period', '2999-01')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'The month 2999-01 has not begun.\n',
    });
  });

  it('executes as many statements for 13 apps as for one', async () => {
    await appThatUsed(1);
    const few = await statementsWithoutBackground(app(), () => report(period));
    for (let count = 1; count <= 12; count += 1)
      await appThatUsed(count, { quota: { limit: count } });
    const many = await statementsWithoutBackground(app(), () => report(period));
    expect(many.length).toBe(few.length);
    expect(await report(period)).toHaveLength(13);
  });
});

onOneEngine('Command "quota reconcile"', (database) => {
  skipCounterCheck(database);
  const { app, cli } = useCommands(database);
  const manager = () => app().dataSource.manager;

  beforeEach(() => deleteAllRows(app().dataSource));

  /** A new member with this number of posts, and their app. */
  async function memberWithPosts(posts: number): Promise<{ member: Member; clientId: string }> {
    const member = await Member.join(app());
    for (let count = 1; count <= posts; count += 1) await member.publish();
    return { member, clientId: member.client.clientId };
  }
  /** New apps with these numbers of posts, in the order of their ids. The clock moves because ids of one millisecond are unordered. */
  async function appsWithPosts(...postCounts: number[]): Promise<string[]> {
    const clientIds: string[] = [];
    for (const count of postCounts) {
      const { clientId } = await memberWithPosts(count);
      clientIds.push(clientId);
      app().clock.advance(1);
    }
    return clientIds;
  }
  const usedBy = async (clientId: string) =>
    (await manager().findOneByOrFail(QuotaUsage, { clientId })).used;

  it('reports no difference when all counters are correct, although the log has replays and other calls', async () => {
    const { member } = await memberWithPosts(2);
    const key = { 'idempotency-key': 'once', 'content-type': 'application/json' };
    for (let time = 1; time <= 3; time += 1)
      expect((await member.postRaw('/posts', '{"content":"Hi"}', key)).status).toBe(201);
    await member.get('/me');
    const { code, stdout, stderr } = await cli.run('quota', 'reconcile');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe('All counters match the recorded calls.\n');
    expect(await cli.json('quota', 'reconcile', '--fix')).toEqual([]);
  });

  it('lists the apps with a wrong counter, changes nothing, and exits with 1', async () => {
    const [tooHigh = '', tooLow = '', missing = ''] = await appsWithPosts(2, 2, 2, 1);
    await manager().update(QuotaUsage, { clientId: tooHigh }, { used: 5 });
    await manager().update(QuotaUsage, { clientId: tooLow }, { used: 1 });
    await manager().delete(QuotaUsage, { clientId: missing });
    const { code, stdout, stderr } = await cli.run('quota', 'reconcile');
    expect(code).toBe(1);
    expect(stderr).toBe(
      'The counters of 3 apps do not match the recorded calls. Add --fix to set them to the recorded values.\n',
    );
    const period = app().clock.now().toISOString().slice(0, 7);
    expect(stdout.split('\n').slice(0, -1)).toEqual([
      'CLIENT_ID                           PERIOD   USED  RECORDED',
      `${tooHigh}  ${period}  5     2`,
      `${tooLow}  ${period}  1     2`,
      `${missing}  ${period}  0     2`,
    ]);
    expect(await usedBy(tooHigh)).toBe(5);
  });

  it('corrects the counters once with --fix and records the values', async () => {
    const [tooHigh = '', missing = ''] = await appsWithPosts(2, 3);
    await manager().update(QuotaUsage, { clientId: tooHigh }, { used: 5 });
    await manager().delete(QuotaUsage, { clientId: missing });
    const fixed = await cli.json<object[]>('quota', 'reconcile', '--fix', '--yes');
    expect(fixed).toMatchObject([
      { client_id: tooHigh, used: 5, recorded: 2, fixed: true },
      { client_id: missing, used: 0, recorded: 3, fixed: true },
    ]);
    expect([await usedBy(tooHigh), await usedBy(missing)]).toEqual([2, 3]);
    const period = app().clock.now().toISOString().slice(0, 7);
    const trail = await auditTrail(app().dataSource, tooHigh);
    const fixes = trail.filter(({ action }) => action === 'quota.reconciled');
    expect(fixes).toMatchObject([{ details: { period, from: 5, to: 2 } }]);
    expect((await cli.run('quota', 'reconcile', '--fix')).stdout).toContain('All counters match');
  });

  it('checks an earlier month and counts each post in the month in which its call was recorded', async () => {
    app().clock.set('2026-10-31T23:59:59.999Z');
    const { member, clientId } = await memberWithPosts(1);
    app().clock.set('2026-11-01T00:00:00.000Z');
    await member.publish();
    await manager().update(QuotaUsage, { clientId, period: '2026-10' }, { used: 4 });
    const [difference] = await app().service(QuotaReconciliation).discrepancies('2026-10');
    expect(difference).toMatchObject({ clientId, period: '2026-10', used: 4, recorded: 1 });
    expect(await app().service(QuotaReconciliation).discrepancies('2026-11')).toEqual([]);
  });

  it('rejects a month with expired calls and a month in the future', async () => {
    const expired = await cli.run('quota', 'reconcile', '--period', '2020-01');
    expect(expired).toMatchObject({ code: 1, stdout: '' });
    expect(expired.stderr).toBe(
      'The call log of 2020-01 is incomplete because CALL_LOG_DAYS is 400. Choose a later month.\n',
    );
    const future = await cli.run('quota', 'reconcile', '--period', '2999-01');
    expect(future).toMatchObject({ code: 1, stderr: 'The month 2999-01 has not begun.\n' });
  });

  it('finds no false difference and loses no post while apps publish', async () => {
    app().clock.set('2026-11-21T09:30:00.000Z');
    const members = [await memberWithPosts(1), await memberWithPosts(0), await memberWithPosts(0)];
    const reconciliation = app().service(QuotaReconciliation);
    const wrong = members[0]?.clientId ?? '';
    await manager().update(QuotaUsage, { clientId: wrong }, { used: 9 });
    const publishing = members.map(async ({ member }) => {
      for (let count = 1; count <= 8; count += 1) await member.publish();
    });
    const published = new AbortController();
    const all = Promise.all(publishing).finally(() => published.abort());
    let checks = 0;
    for (; !published.signal.aborted; checks += 1) {
      const found = await reconciliation.discrepancies();
      expect(found.filter(({ clientId }) => clientId !== wrong)).toEqual([]);
      for (const difference of found) await reconciliation.fix(difference, { actor: 'test' });
    }
    await all;
    expect(checks).toBeGreaterThan(1);
    expect(await usedBy(wrong)).toBe(9);
    expect(await reconciliation.discrepancies()).toEqual([]);
  });

  it('locks an app only while it counts the last hours', async () => {
    app().clock.set('2026-11-21T09:30:00.000Z');
    const { member, clientId } = await memberWithPosts(1);
    app().clock.advance(DAY);
    const { user, client } = member;
    await (await Member.join(app(), { user, client })).publish();
    await manager().update(QuotaUsage, { clientId }, { used: 7 });
    // Otherwise their statements could come between.
    await flushDeferredWrites(app());
    const statements = await app().statementsOf(() =>
      app().service(QuotaReconciliation).discrepancies(),
    );
    const locked = statements.slice(statements.findIndex((sql) => /^(START|BEGIN)/.test(sql)));
    expect(locked.filter((sql) => /^SELECT.*api_calls/s.test(sql))).toHaveLength(1);
  });
});
