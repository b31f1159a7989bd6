import { QuotaReconciliation } from '../../src/modules/quota/months/quota-reconciliation.service.js';
import { QuotaUsage } from '../../src/modules/quota/quota.entities.js';
import { useCommands } from '../support/commands.js';
import { onOneEngine } from '../support/database.js';
import { deleteAllRows } from '../support/fixtures.js';
import { skipCounterCheck } from '../support/invariants.js';
import { auditTrail } from '../support/logs.js';
import { Member } from '../support/member.js';
import { flushDeferredWrites } from '../support/test-app.js';

const DAY = 86_400_000;

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
