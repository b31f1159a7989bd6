import { addMilliseconds, MINUTE, DAY } from '../../src/platform/clock.js';
import { newId } from '../../src/platform/ids.js';
import { ApiCall, ApiUsageDaily } from '../../src/modules/quota/quota.entities.js';
import { CallLog } from '../../src/modules/quota/calls/call-log.service.js';
import { UsageRollup } from '../../src/modules/quota/calls/usage-rollup.service.js';
import { Retention } from '../../src/modules/operations/retention.js';
import { onOneEngine } from '../support/database.js';
import { CALLER, deleteAllRows, recordCalls } from '../support/fixtures.js';
import { skipCounterCheck } from '../support/invariants.js';
import { Member } from '../support/member.js';
import { useTestApp } from '../support/test-app.js';

/** More totals than one INSERT statement writes. */
const MANY_TOTALS = 250;

onOneEngine('Job "usage-rollup"', (database) => {
  skipCounterCheck(database);
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
    await deleteAllRows(app().dataSource);
  });

  /** Calls by day, summed over apps, routes and statuses. */
  async function totals(): Promise<Record<string, number>> {
    const days: Record<string, number> = {};
    for (const { day, calls } of await manager().find(ApiUsageDaily, { order: { day: 'ASC' } }))
      days[day] = (days[day] ?? 0) + calls;
    return days;
  }

  it('counts calls by day, app, route, status and error code', async () => {
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
    const ofApp = { day, clientId, errors: null };
    const me = { route: 'GET /dev/v1/me', status: 200 };
    expect(rows).toEqual([
      { ...ofApp, ...me, calls: 2 },
      { ...ofApp, ...me, clientId: other.client.clientId, calls: 1 },
      {
        ...{ ...ofApp, route: 'GET /dev/v1/posts/:id', status: 404 },
        ...{ calls: 1, errors: { not_found: 1 } },
      },
      { ...ofApp, route: 'POST /dev/v1/posts', status: 201, calls: 1 },
    ]);
  });

  it('counts the first and the last millisecond of a day in that day', async () => {
    await record('2026-11-19T23:59:59.999Z', '2026-11-20T00:00:00.000Z');
    await record('2026-11-20T23:59:59.999Z', '2026-11-21T00:00:00.000Z');
    await rollUp();
    expect(await totals()).toEqual({ '2026-11-19': 1, '2026-11-20': 2, '2026-11-21': 1 });
  });

  it('when it runs days late, counts every missed day, and recounts the newest counted day and the day before', async () => {
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

  it('counts a call that is recorded up to a day late', async () => {
    await record('2026-11-19T23:00:00.000Z');
    app().clock.set('2026-11-20T00:10:00.000Z');
    await rollUp();
    app().clock.set('2026-11-20T23:50:00.000Z');
    await record('2026-11-19T23:59:59.999Z', '2026-11-20T23:00:00.000Z');
    await rollUp();
    expect(await totals()).toEqual({ '2026-11-19': 2, '2026-11-20': 1 });
  });

  it('counts a call that is recorded more than a day late only in a run for its day', async () => {
    await record('2026-11-10T10:00:00.000Z', '2026-11-21T09:00:00.000Z');
    await rollUp();
    await record('2026-11-10T11:00:00.000Z');
    await rollUp();
    expect((await totals())['2026-11-10']).toBe(1);
    await rollUp('2026-11-10');
    expect((await totals())['2026-11-10']).toBe(2);
  });

  it('stops at its deadline and continues from there in the next run', async () => {
    await record('2026-11-18T10:00:00Z', '2026-11-19T10:00:00Z', '2026-11-20T10:00:00Z');
    const usage = app().service(UsageRollup);
    const now = app().clock.now();
    expect(await usage.run({ stopAt: now })).toEqual({
      days: [],
      until: new Date('2026-11-18T00:00:00.000Z'),
    });
    expect((await usage.run({ stopAt: addMilliseconds(now, 1) })).days).toHaveLength(3);
  });

  it('does not decrease the totals of a partly pruned day', async () => {
    await record('2026-11-20T10:00:00.000Z', '2026-11-20T11:00:00.000Z');
    await rollUp();
    await manager().delete(ApiCall, { at: new Date('2026-11-20T10:00:00.000Z') });
    await rollUp('2026-11-20');
    expect(await totals()).toEqual({ '2026-11-20': 2 });
  });

  it('runs before pruning, so that every deleted call is in the totals', async () => {
    await record('2025-01-01T10:00:00.000Z', '2025-01-02T10:00:00.000Z', '2026-11-21T09:00:00Z');
    await app().service(Retention).run();
    expect(await totals()).toEqual({ '2025-01-01': 1, '2025-01-02': 1 });
    expect(await manager().count(ApiCall)).toBe(1);
    await rollUp();
    expect(await totals()).toEqual({ '2025-01-01': 1, '2025-01-02': 1, '2026-11-21': 1 });
  });

  it('reads at most one hour of the log per statement', async () => {
    const start = new Date('2026-11-20T00:00:00.000Z');
    const moments = Array.from({ length: 48 }, (_, halfHour) =>
      addMilliseconds(start, halfHour * 30 * MINUTE),
    );
    await recordCalls(app().dataSource, moments);
    const statements = await app().statementsOf(() => rollUp());
    expect(statements.filter((sql) => sql.includes('GROUP BY'))).toHaveLength(24);
    expect(await totals()).toEqual({ '2026-11-20': 48 });
  });

  it('stores more totals of a day than one INSERT statement writes', async () => {
    const at = new Date('2026-11-20T10:00:00.000Z');
    const calls = Array.from({ length: MANY_TOTALS }, (_, index) => ({
      at,
      id: newId('call', at),
      clientId: CALLER,
      userId: null,
      route: 'GET /dev/v1/me',
      status: 200 + index,
      durationMs: 1,
      requestId: 'req_x',
    }));
    await manager().insert(ApiCall, calls);
    await rollUp();
    expect(await manager().countBy(ApiUsageDaily, { clientId: CALLER })).toBe(MANY_TOTALS);
    await record('2026-11-20T10:00:00.000Z');
    await rollUp();
    expect(await totals()).toEqual({ '2026-11-20': MANY_TOTALS + 1 });
  });

  it('does not change the totals of a pruned day', async () => {
    await record('2026-11-20T10:00:00.000Z');
    await rollUp();
    app().clock.set(addMilliseconds(app().clock.now(), 500 * DAY).toISOString());
    await app().service(Retention).run();
    await rollUp();
    await rollUp('2026-11-20');
    expect(await manager().count(ApiCall)).toBe(0);
    expect(await totals()).toEqual({ '2026-11-20': 1 });
  });
});
