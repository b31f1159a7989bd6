import { addMilliseconds } from '../../../src/platform/clock.js';
import { ApiCall, ApiUsageDaily } from '../../../src/modules/quota/quota.entities.js';
import { Retention } from '../../../src/modules/operations/retention.js';
import { RepeatedWork } from '../../support/background.js';
import { onEachServer } from '../../support/database.js';
import { recordCalls } from '../../support/fixtures.js';
import { Member } from '../../support/member.js';
import { useTestApp } from '../../support/test-app.js';

const DAY = 86_400_000;
const ROWS = 20_000;

onEachServer('Pruning under load', (database) => {
  // A statement that takes longer than this fails, and the test with it.
  const app = useTestApp(database, { DB_TIMEOUT_MS: '1000' });

  it('keeps requests fast and statements small', { timeout: 120_000 }, async () => {
    const { manager } = app().dataSource;
    const start = addMilliseconds(app().clock.now(), -500 * DAY);
    const callTimes = Array.from({ length: ROWS }, (_, number) =>
      addMilliseconds(start, number * 60_000),
    );
    await recordCalls(app().dataSource, callTimes);
    const members = await Promise.all([1, 2, 3].map(() => Member.join(app())));
    const durations: number[] = [];
    const calling = new RepeatedWork();
    for (const member of members)
      calling.begin(async () => {
        const startedAt = performance.now();
        expect((await member.get('/me')).status).toBe(200);
        durations.push(performance.now() - startedAt);
      });
    let deleted: unknown;
    const statements = await app().statementsOf(async () => {
      deleted = await app().service(Retention).run();
    });
    await calling.stop();

    expect(deleted).toMatchObject({ api_calls: ROWS });
    expect(await manager.countBy(ApiCall, { at: callTimes[0] })).toBe(0);
    const totals = await manager.find(ApiUsageDaily);
    expect(totals.reduce((sum, { calls }) => sum + calls, 0)).toBe(ROWS);
    const batches = statements.filter((sql) => /^DELETE FROM .api_calls./.test(sql));
    expect(batches).toHaveLength(ROWS / 1000);
    const sorted = durations.toSorted((one, other) => one - other);
    expect(sorted.length).toBeGreaterThan(100);
    expect(sorted[Math.floor(sorted.length * 0.99)]).toBeLessThan(1000);
  });
});
