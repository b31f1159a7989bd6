import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { QuotaAlerts } from '../../src/modules/quota/months/quota-alerts.js';
import { QuotaUsage } from '../../src/modules/quota/quota.entities.js';
import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { onOneEngine } from '../support/database.js';
import { deleteAllRows } from '../support/fixtures.js';
import { skipCountCheck } from '../support/invariants.js';
import { useTestApp } from '../support/test-app.js';

onOneEngine('Quota alerts', (database) => {
  skipCountCheck(database);
  const app = useTestApp(database);
  /** A second process with a higher limit of the plan "partner". */
  const generous = useTestApp(database, { QUOTA_PLANS: 'partner=5000,first-party=unlimited' });
  const manager = () => app().dataSource.manager;
  const change = { actor: 'test' };
  const period = '2026-11';

  beforeEach(async () => {
    await deleteAllRows(app().dataSource);
  });

  async function appThatUsed(used: number, plan?: string): Promise<string> {
    const { clientId } = await app().addClient();
    await manager().insert(QuotaUsage, { clientId, period, used });
    if (plan !== undefined) await app().service(QuotaService).set(clientId, { plan }, change);
    return clientId;
  }
  const use = (clientId: string, used: number) =>
    manager().update(QuotaUsage, { clientId, period }, { used });
  const check = (of = app()) => of.service(QuotaAlerts).run();
  async function alerts(clientId: string): Promise<unknown[]> {
    const events = await manager().find(AuditEvent, {
      where: { clientId, action: 'quota.alerted' },
      order: { at: 'ASC', id: 'ASC' },
    });
    return events.map(({ details }) => details);
  }
  const thresholds = async (clientId: string) =>
    (await alerts(clientId)).map((details) => (details as { threshold: number }).threshold);

  it('are recorded once for each threshold, when it is reached', async () => {
    const clientId = await appThatUsed(0);
    for (const used of [74, 75, 75, 89, 90, 99, 100, 100]) {
      await use(clientId, used);
      await check();
      app().clock.advance(1);
    }
    expect(await alerts(clientId)).toEqual([
      { period, threshold: 75, used: 75, limit: 100 },
      { period, threshold: 90, used: 90, limit: 100 },
      { period, threshold: 100, used: 100, limit: 100 },
    ]);
  });

  it('are recorded once for a step over several thresholds', async () => {
    const clientId = await appThatUsed(100);
    await check();
    expect(await thresholds(clientId)).toEqual([100]);
  });

  it('are recorded once when the check runs three times at the same time', async () => {
    const clientId = await appThatUsed(80);
    await Promise.all([check(), check(), check()]);
    expect(await thresholds(clientId)).toEqual([75]);
  });

  it('are recorded again in the next month', async () => {
    const clientId = await appThatUsed(80);
    await check();
    app().clock.set('2026-12-02T09:30:00.000Z');
    await manager().insert(QuotaUsage, { clientId, period: '2026-12', used: 75 });
    await check();
    app().clock.set('2026-11-21T09:30:00.000Z');
    expect(await alerts(clientId)).toMatchObject([{ period }, { period: '2026-12', used: 75 }]);
  });

  it('are recorded again after the limit was raised', async () => {
    const clientId = await appThatUsed(100);
    await check();
    await app().service(QuotaService).set(clientId, { limit: 500 }, change);
    await check();
    await use(clientId, 375);
    app().clock.advance(1);
    await check();
    expect(await alerts(clientId)).toMatchObject([
      { threshold: 100, limit: 100 },
      { threshold: 75, used: 375, limit: 500 },
    ]);
  });

  it('are not recorded again for a threshold that is still exceeded after the limit was raised', async () => {
    const clientId = await appThatUsed(100);
    await check();
    await app().service(QuotaService).set(clientId, { limit: 110 }, change);
    await check();
    expect(await thresholds(clientId)).toEqual([100]);
    await use(clientId, 110);
    app().clock.advance(1);
    await check();
    expect(await thresholds(clientId)).toEqual([100, 100]);
  });

  it('are recorded at once after the limit was lowered', async () => {
    const clientId = await appThatUsed(50);
    await app().service(QuotaService).set(clientId, { limit: 55 }, change);
    await check();
    expect(await alerts(clientId)).toMatchObject([{ threshold: 90, used: 50, limit: 55 }]);
  });

  it('are recorded again after the configured limit of the plan was raised', async () => {
    const clientId = await appThatUsed(1000, 'partner');
    await check();
    await check(generous());
    await use(clientId, 4500);
    generous().clock.set('2026-11-21T12:00:00.000Z');
    await check(generous());
    expect(await alerts(clientId)).toMatchObject([
      { threshold: 100, limit: 1000 },
      { threshold: 90, limit: 5000 },
    ]);
  });

  it('are not recorded without a limit, or for an unused limit of 0', async () => {
    const unlimited = await appThatUsed(5000, 'first-party');
    const none = await appThatUsed(0);
    await app().service(QuotaService).set(none, { limit: 0 }, change);
    await check();
    expect([await alerts(unlimited), await alerts(none)]).toEqual([[], []]);
  });

  it('are counted by threshold in the metrics', async () => {
    const count = async (threshold: number) => {
      const { values } = (await app()
        .service(Metrics)
        .registry.getSingleMetric('quota_alerts_total')
        ?.get()) ?? { values: [] };
      return values.find(({ labels }) => labels.threshold === threshold)?.value;
    };
    const before = await count(90);
    await appThatUsed(95);
    await check();
    expect(await count(90)).toBe((before ?? NaN) + 1);
  });

  it('are found among more apps than one batch has', async () => {
    const rows = Array.from({ length: 600 }, (_, number) => ({
      clientId: `svc_app_${String(number).padStart(26, '0')}`,
      period,
      used: number === 550 ? 90 : 10,
    }));
    for (let from = 0; from < rows.length; from += 300)
      await manager().insert(QuotaUsage, rows.slice(from, from + 300));
    const statements = await app().statementsOf(() => check());
    expect(await thresholds(`svc_app_${'550'.padStart(26, '0')}`)).toEqual([90]);
    expect(statements.length).toBeLessThan(20);
  });
});
