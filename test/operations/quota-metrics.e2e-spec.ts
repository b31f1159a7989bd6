import { Metrics } from '../../src/platform/observability/metrics.js';
import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { statementsWithoutBackground, useTestApp } from '../support/test-app.js';

onOneEngine('Quota metrics', (database) => {
  const firstApp = useTestApp(database);
  const secondApp = useTestApp(database);
  const scrape = (app = firstApp()) => app.service(Metrics).registry.metrics();
  const line = (name: string, { client }: Member, value: number) =>
    `${name}{client_id="${client.clientId}"} ${value}\n`;

  it('export the used posts and the limit of each app, with equal values in every process', async () => {
    const [one, other] = [await Member.join(firstApp()), await Member.join(firstApp())];
    await one.publish();
    await one.publish();
    await other.publish();
    await firstApp()
      .service(QuotaService)
      .set(other.client.clientId, { limit: null }, { actor: 'test' });
    for (const app of [firstApp(), secondApp()]) {
      const metrics = await scrape(app);
      expect(metrics).toContain(line('quota_used_posts', one, 2));
      expect(metrics).toContain(line('quota_limit_posts', one, 100));
      expect(metrics).toContain(line('quota_used_posts', other, 1));
      expect(metrics).not.toContain(`quota_limit_posts{client_id="${other.client.clientId}"}`);
    }
  });

  it('restart each month', async () => {
    const member = await Member.join(firstApp());
    await member.publish();
    firstApp().clock.set('2026-12-01T00:00:00.000Z');
    expect(await scrape()).not.toContain(`quota_used_posts{client_id="${member.client.clientId}"`);
    firstApp().clock.set('2026-11-21T09:30:00.000Z');
    expect(await scrape()).toContain(line('quota_used_posts', member, 1));
  });

  it('execute as many statements for many apps as for few', async () => {
    const few = await statementsWithoutBackground(firstApp(), () => scrape());
    for (let count = 1; count <= 10; count += 1) await (await Member.join(firstApp())).publish();
    const many = await statementsWithoutBackground(firstApp(), () => scrape());
    expect(many.length).toBe(few.length);
    expect(many.length).toBeLessThanOrEqual(8);
  });

  it('are omitted while their query fails', async () => {
    const member = await Member.join(firstApp());
    await member.publish();
    const { dataSource } = firstApp();
    await dataSource.query('ALTER TABLE quota_usage RENAME TO quota_usage_away');
    const metrics = await scrape().finally(() =>
      dataSource.query('ALTER TABLE quota_usage_away RENAME TO quota_usage'),
    );
    expect(metrics).not.toContain(`quota_used_posts{client_id="${member.client.clientId}"`);
    expect(await scrape()).toContain(line('quota_used_posts', member, 1));
  });
});
