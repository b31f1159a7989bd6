import { AppsService } from '../../src/modules/oauth/apps/apps.service.js';
import { QuotaUsage } from '../../src/modules/quota/quota-usage.entity.js';
import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { JobRun } from '../../src/operations/job-run.entity.js';
import { QuotaResetCron } from '../../src/operations/jobs/quota-reset.cron.js';
import { QuotaReset } from '../../src/operations/jobs/quota-reset.service.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { type TestApp, useTestApp } from '../support/test-app.js';

onOneEngine('The quota reset at the start of a month', (database) => {
  const env = { QUOTA_DEFAULT_LIMIT: '2', DB_POOL_SIZE: '4', DB_QUEUE_LIMIT: '50' };
  const here = useTestApp(database, env);
  const there = useTestApp(database, env);

  // Two connections to one SQLite file in one process would wait for each other until the busy timeout.
  const places = () => (database.engine.kind === 'sqlite' ? [here(), here()] : [here(), there()]);

  function setClocks(time: string): void {
    for (const app of [here(), there()]) app.clock.set(time);
  }
  const usedBy = async (app: TestApp, { client }: Member) =>
    (await app.service(QuotaService).status(client.clientId)).used;
  const rowsOf = ({ client: { clientId } }: Member) =>
    here().dataSource.manager.find(QuotaUsage, {
      where: { clientId },
      order: { period: 'ASC' },
    });

  it('C111 changes no quota, run twice, in two places, a day late or never', async () => {
    setClocks('2027-01-31T23:59:59.999Z');
    const member = await Member.join(here());
    await member.publish();
    setClocks('2027-02-01T00:00:00.000Z');
    expect(await usedBy(here(), member)).toBe(0);
    const first = await here().service(QuotaReset).run();
    expect(first).toMatchObject({ period: '2027-02', previous: { period: '2027-01', posts: 1 } });
    expect(first.opened).toBeGreaterThan(0);
    expect(await usedBy(here(), member)).toBe(0);
    await member.publish();
    expect(await here().service(QuotaReset).run()).toMatchObject({ opened: 0 });
    setClocks('2027-02-02T00:30:00.000Z');
    await there().service(QuotaReset).run();
    expect(await usedBy(here(), member)).toBe(1);
    const later = await Member.join(here(), { user: member.user, client: member.client });
    await later.publish();
    expect((await later.post('/posts', { content: 'Hi' })).status).toBe(429);
    expect(await rowsOf(member)).toMatchObject([
      { period: '2027-01', used: 1 },
      { period: '2027-02', used: 2 },
    ]);
  });

  it('opens the month for the apps that are enabled, whether they published before or not', async () => {
    setClocks('2027-03-01T00:00:00.000Z');
    const enabled = await Member.join(here());
    const disabled = await Member.join(here());
    await here()
      .service(AppsService)
      .changeStatus(disabled.client.clientId, 'disabled', { actor: 'test' });
    await here().service(QuotaReset).run();
    expect(await rowsOf(enabled)).toMatchObject([{ period: '2027-03', used: 0 }]);
    expect(await rowsOf(disabled)).toEqual([]);
  });

  it('C111 run by hand in two places at once opens every month once', async () => {
    setClocks('2027-04-01T00:00:00.000Z');
    const members = [];
    for (let count = 1; count <= 5; count += 1) members.push(await Member.join(here()));
    await Promise.all(places().map((app) => app.service(QuotaReset).run()));
    for (const member of members)
      expect(await rowsOf(member)).toMatchObject([{ period: '2027-04', used: 0 }]);
  });

  it('C111 runs as a job once a month, whichever process is first', async () => {
    setClocks('2027-05-01T00:00:00.000Z');
    const member = await Member.join(here());
    await Promise.all(places().map((app) => app.service(QuotaResetCron).run()));
    await there().service(QuotaResetCron).run();
    await here().service(QuotaResetCron).run();
    const period = '2027-05';
    const runs = await here().dataSource.manager.findBy(JobRun, { period });
    expect(runs).toMatchObject([{ job: 'quota-reset', finishedAt: expect.any(Date) }]);
    expect(await rowsOf(member)).toMatchObject([{ period, used: 0 }]);
    setClocks('2027-06-01T00:00:00.000Z');
    await there().service(QuotaResetCron).run();
    expect(await here().dataSource.manager.countBy(JobRun, { job: 'quota-reset' })).toBe(2);
  });

  it('gives its month back when it fails, so that the next process runs it', async () => {
    setClocks('2027-12-01T00:00:00.000Z');
    const member = await Member.join(here());
    const { dataSource } = here();
    const isHeld = () => dataSource.manager.existsBy(JobRun, { period: '2027-12' });
    await dataSource.query('ALTER TABLE quota_usage RENAME TO quota_usage_away');
    await here().service(QuotaResetCron).run();
    expect(await isHeld()).toBe(false);
    await dataSource.query('ALTER TABLE quota_usage_away RENAME TO quota_usage');
    await there().service(QuotaResetCron).run();
    expect(await isHeld()).toBe(true);
    expect(await rowsOf(member)).toMatchObject([{ period: '2027-12', used: 0 }]);
  });

  it('C111 runs while apps publish, and takes nothing from what they spent', async () => {
    setClocks('2027-06-30T23:30:00.000Z');
    const members = [];
    for (let count = 1; count <= 4; count += 1) members.push(await Member.join(here()));
    setClocks('2027-07-01T00:00:00.000Z');
    await Promise.all([
      ...members.map((member) => member.publish()),
      ...places().map((app) => app.service(QuotaReset).run()),
    ]);
    for (const member of members) expect(await usedBy(there(), member)).toBe(1);
  });

  it('takes more apps than may wait for a connection', async () => {
    setClocks('2027-08-01T00:00:00.000Z');
    for (let count = 1; count <= 100; count += 1) await here().addClient();
    expect((await here().service(QuotaReset).run()).opened).toBeGreaterThanOrEqual(100);
  });
});
