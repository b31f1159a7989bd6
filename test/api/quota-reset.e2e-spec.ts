import { QuotaUsage } from '../../src/modules/quota/quota.entities.js';
import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { QuotaMonths } from '../../src/modules/quota/months/quota-months.service.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { type TestApp, useTestApp } from '../support/test-app.js';

onOneEngine('Quota reset at the start of a month', (database) => {
  const env = { QUOTA_DEFAULT_LIMIT: '2', DB_POOL_SIZE: '4', DB_QUEUE_LIMIT: '10' };
  const firstApp = useTestApp(database, env);
  const secondApp = useTestApp(database, env);

  // In one process, two connections to one SQLite file block each other until the busy timeout. On SQLite, the first app therefore
  // stands for both.
  const instances = () =>
    database.engine.kind === 'sqlite' ? [firstApp(), firstApp()] : [firstApp(), secondApp()];

  function setClocks(time: string): void {
    for (const app of [firstApp(), secondApp()]) app.clock.set(time);
  }
  const usedBy = async (app: TestApp, { client }: Member) =>
    (await app.service(QuotaService).status(client.clientId)).used;
  const rowsOf = ({ client: { clientId } }: Member) =>
    firstApp().dataSource.manager.find(QuotaUsage, {
      where: { clientId },
      order: { period: 'ASC' },
    });

  it('C111 does not change a quota if it runs twice, in two processes, a day late or never', async () => {
    setClocks('2027-01-31T23:59:59.999Z');
    const member = await Member.join(firstApp());
    await member.publish();
    setClocks('2027-02-01T00:00:00.000Z');
    expect(await usedBy(firstApp(), member)).toBe(0);
    const reset = await firstApp().service(QuotaMonths).closeEarlier();
    const previous = { period: '2027-01', posts: 1 };
    expect(reset).toMatchObject({ period: '2027-02', closed: 1, previous });
    expect(await usedBy(firstApp(), member)).toBe(0);
    await member.publish();
    expect(await firstApp().service(QuotaMonths).closeEarlier()).toMatchObject({ closed: 0 });
    setClocks('2027-02-02T00:30:00.000Z');
    await secondApp().service(QuotaMonths).closeEarlier();
    expect(await usedBy(firstApp(), member)).toBe(1);
    const later = await Member.join(firstApp(), { user: member.user, client: member.client });
    await later.publish();
    expect((await later.post('/posts', { content: 'Hi' })).status).toBe(429);
    expect(await rowsOf(member)).toMatchObject([
      { period: '2027-01', used: 1 },
      { period: '2027-02', used: 2 },
    ]);
  });

  it('C111 closes each month once when the reset is started manually in two processes at the same time', async () => {
    setClocks('2027-03-31T23:00:00.000Z');
    await firstApp().service(QuotaMonths).closeEarlier();
    const members = [];
    for (let count = 1; count <= 5; count += 1) members.push(await Member.join(firstApp()));
    for (const member of members) await member.publish();
    setClocks('2027-04-01T00:00:00.000Z');
    const results = await Promise.all(
      instances().map((app) => app.service(QuotaMonths).closeEarlier()),
    );
    expect(results.reduce((sum, { closed }) => sum + closed, 0)).toBe(5);
    for (const member of members)
      expect(await rowsOf(member)).toMatchObject([
        { period: '2027-03', used: 1, closedPlan: 'default', closedLimit: 2 },
      ]);
  });

  it('C111 preserves the usage of apps that publish while the reset runs', async () => {
    setClocks('2027-06-30T23:30:00.000Z');
    const members = [];
    for (let count = 1; count <= 4; count += 1) members.push(await Member.join(firstApp()));
    setClocks('2027-07-01T00:00:00.000Z');
    await Promise.all([
      ...members.map((member) => member.publish()),
      ...instances().map((app) => app.service(QuotaMonths).closeEarlier()),
    ]);
    for (const member of members) expect(await usedBy(secondApp(), member)).toBe(1);
  });
});
