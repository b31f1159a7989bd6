import { later } from '../../src/common/clock.js';
import { ApiCall } from '../../src/modules/quota/api-call.entity.js';
import { ApiUsageDaily } from '../../src/modules/quota/api-usage-daily.entity.js';
import { CallLog } from '../../src/modules/quota/call-log.service.js';
import { UsageRollup } from '../../src/modules/quota/usage/usage-rollup.service.js';
import { Prune } from '../../src/operations/jobs/prune.service.js';
import { onOneEngine } from '../support/database.js';
import { CALLER, recordCalls } from '../support/fixtures.js';
import { skipCountCheck } from '../support/invariants.js';
import { Member } from '../support/member.js';
import { useTestApp } from '../support/test-app.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

onOneEngine('The roll-up of the call log', (database) => {
  skipCountCheck(database);
  const app = useTestApp(database);
  const manager = () => app().dataSource.manager;
  const rollUp = (from?: string) =>
    app()
      .service(UsageRollup)
      .run({ from: from === undefined ? undefined : new Date(from) });
  const record = (...moments: string[]) => recordCalls(app().dataSource, moments);

  beforeEach(async () => {
    app().clock.set('2026-11-21T09:30:00.000Z');
    await app().service(CallLog).flush();
    for (const { target } of app().dataSource.entityMetadatas) await manager().clear(target);
  });

  /** Calls by day, whatever their app, route and status. */
  async function totals(): Promise<Record<string, number>> {
    const days: Record<string, number> = {};
    for (const { day, calls } of await manager().find(ApiUsageDaily, { order: { day: 'ASC' } }))
      days[day] = (days[day] ?? 0) + calls;
    return days;
  }

  it('adds up by day, app, route and status what apps have called', async () => {
    const [one, other] = [await Member.join(app()), await Member.join(app())];
    await one.publish();
    await one.get('/me');
    await one.get('/me');
    await one.get('/posts/x');
    await other.get('/me');
    const recorded = async () => {
      await app().service(CallLog).flush();
      return manager().count(ApiCall);
    };
    await expect.poll(recorded).toBe(5);
    await rollUp();
    const rows = await manager().find(ApiUsageDaily, { order: { route: 'ASC', calls: 'DESC' } });
    const [day, clientId] = ['2026-11-21', one.client.clientId];
    expect(rows).toEqual([
      { day, clientId, route: 'GET /dev/v1/me', status: 200, calls: 2 },
      { day, clientId: other.client.clientId, route: 'GET /dev/v1/me', status: 200, calls: 1 },
      { day, clientId, route: 'GET /dev/v1/posts/:id', status: 404, calls: 1 },
      { day, clientId, route: 'POST /dev/v1/posts', status: 201, calls: 1 },
    ]);
  });

  it('puts the first and the last millisecond of a day into that day', async () => {
    await record('2026-11-19T23:59:59.999Z', '2026-11-20T00:00:00.000Z');
    await record('2026-11-20T23:59:59.999Z', '2026-11-21T00:00:00.000Z');
    await rollUp();
    expect(await totals()).toEqual({ '2026-11-19': 1, '2026-11-20': 2, '2026-11-21': 1 });
  });

  it('run twice, adds nothing twice', async () => {
    await record('2026-11-20T10:00:00.000Z', '2026-11-21T09:00:00.000Z');
    const first = await rollUp();
    const again = await rollUp();
    expect(again).toEqual(first);
    expect(await totals()).toEqual({ '2026-11-20': 1, '2026-11-21': 1 });
  });

  it('run in two places at once, adds nothing twice', async () => {
    await record('2026-11-20T10:00:00.000Z', '2026-11-21T09:00:00.000Z');
    await Promise.all([rollUp(), rollUp(), rollUp()]);
    expect(await totals()).toEqual({ '2026-11-20': 1, '2026-11-21': 1 });
  });

  it('that never ran begins with the first call, however old', async () => {
    await record('2025-12-24T10:00:00.000Z', '2026-11-21T09:00:00.000Z');
    expect((await rollUp()).days).toEqual([
      { day: '2025-12-24', calls: 1 },
      { day: '2026-11-21', calls: 1 },
    ]);
  });

  it('run days late, catches up with every day that it missed, and reads no other', async () => {
    await record('2026-11-01T10:00:00.000Z', '2026-11-02T10:00:00.000Z');
    app().clock.set('2026-11-02T10:30:00.000Z');
    await rollUp();
    await record('2026-11-03T10:00:00.000Z', '2026-11-04T10:00:00.000Z', '2026-11-19T10:00:00Z');
    app().clock.set('2026-11-21T09:30:00.000Z');
    const { days } = await rollUp();
    expect(days.map(({ day }) => day)).toEqual([
      '2026-11-01',
      '2026-11-02',
      '2026-11-03',
      '2026-11-04',
      '2026-11-19',
    ]);
    const next = await rollUp();
    expect(next.days.map(({ day }) => day)).toEqual(['2026-11-19']);
  });

  it('counts by itself a call that is recorded up to a day late', async () => {
    await record('2026-11-19T23:00:00.000Z');
    app().clock.set('2026-11-20T00:10:00.000Z');
    await rollUp();
    app().clock.set('2026-11-20T23:50:00.000Z');
    await record('2026-11-19T23:59:59.999Z', '2026-11-20T23:00:00.000Z');
    await rollUp();
    expect(await totals()).toEqual({ '2026-11-19': 2, '2026-11-20': 1 });
  });

  it('counts a call that is recorded later than that once its day is named', async () => {
    await record('2026-11-10T10:00:00.000Z', '2026-11-21T09:00:00.000Z');
    await rollUp();
    await record('2026-11-10T11:00:00.000Z');
    await rollUp();
    expect((await totals())['2026-11-10']).toBe(1);
    await rollUp('2026-11-10');
    expect((await totals())['2026-11-10']).toBe(2);
  });

  it('stops when it must, and goes on there the next time', async () => {
    await record('2026-11-18T10:00:00Z', '2026-11-19T10:00:00Z', '2026-11-20T10:00:00Z');
    const usage = app().service(UsageRollup);
    const now = app().clock.now();
    expect(await usage.run({ stopAt: now })).toEqual({
      days: [],
      until: new Date('2026-11-18T00:00:00.000Z'),
    });
    expect((await usage.run({ stopAt: later(now, 1) })).days).toHaveLength(3);
  });

  it('takes nothing from the totals of a day that is being pruned', async () => {
    await record('2026-11-20T10:00:00.000Z', '2026-11-20T11:00:00.000Z');
    await rollUp();
    await manager().delete(ApiCall, { at: new Date('2026-11-20T10:00:00.000Z') });
    await rollUp('2026-11-20');
    expect(await totals()).toEqual({ '2026-11-20': 2 });
  });

  it('comes before pruning: no call goes that is not in the totals', async () => {
    await record('2025-01-01T10:00:00.000Z', '2025-01-02T10:00:00.000Z', '2026-11-21T09:00:00Z');
    await app().service(Prune).run();
    expect(await totals()).toEqual({ '2025-01-01': 1, '2025-01-02': 1 });
    expect(await manager().count(ApiCall)).toBe(1);
    await rollUp();
    expect(await totals()).toEqual({ '2025-01-01': 1, '2025-01-02': 1, '2026-11-21': 1 });
  });

  it('reads no more than an hour of the log by a statement', async () => {
    const start = new Date('2026-11-20T00:00:00.000Z');
    const moments = Array.from({ length: 48 }, (_, half) => later(start, half * 30 * MINUTE));
    await recordCalls(app().dataSource, moments);
    const statements = await app().statementsOf(() => rollUp());
    expect(statements.filter((sql) => sql.includes('GROUP BY'))).toHaveLength(24);
    expect(await totals()).toEqual({ '2026-11-20': 48 });
  });

  it('keeps many totals of a day', async () => {
    for (let status = 200; status < 700; status += 1)
      await recordCalls(app().dataSource, ['2026-11-20T10:00:00.000Z'], { status });
    await rollUp();
    expect(await manager().countBy(ApiUsageDaily, { clientId: CALLER })).toBe(500);
    await record('2026-11-20T10:00:00.000Z');
    await rollUp();
    expect(await totals()).toEqual({ '2026-11-20': 501 });
  });

  it('forgets no total when its day is long pruned', async () => {
    await record('2026-11-20T10:00:00.000Z');
    await rollUp();
    app().clock.set(later(app().clock.now(), 500 * DAY).toISOString());
    await app().service(Prune).run();
    await rollUp();
    await rollUp('2026-11-20');
    expect(await manager().count(ApiCall)).toBe(0);
    expect(await totals()).toEqual({ '2026-11-20': 1 });
  });
});
