import type { DataSource } from 'typeorm';
import { nextPeriodStart, periodOf } from '../../src/modules/quota/period.js';
import { QuotaUsage } from '../../src/modules/quota/quota-usage.entity.js';
import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { CommandLine } from '../support/command-line.js';
import { connectMigrated, onOneEngine, onSqlite } from '../support/database.js';
import { skipCountCheck } from '../support/invariants.js';
import { auditTrail } from '../support/logs.js';
import { useTestApp } from '../support/test-app.js';

const NOBODYS_ID = 'svc_app_01h455vb4pex5vsknk084sn02q';
const CREATE = [
  'app',
  'create',
  '--name',
  'Garden Share',
  '--redirect-uri',
  'https://garden.example/callback',
  '--scope',
  'posts.write',
];

onOneEngine('Quota on the command line', (database) => {
  skipCountCheck(database);
  const cli = new CommandLine(database);
  let dataSource: DataSource;
  beforeAll(async () => {
    dataSource = await connectMigrated(database.url);
  });
  afterAll(() => dataSource.destroy());

  async function register(...more: string[]): Promise<string> {
    const { client_id } = await cli.json<{ client_id: string }>(...CREATE, ...more);
    return client_id;
  }

  it('shows the default limit, what is used and left, and when the month ends', async () => {
    const clientId = await register();
    const now = new Date();
    const period = periodOf(now);
    await dataSource.manager.insert(QuotaUsage, { clientId, period, used: 30 });
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

  it('sets a number, no limit, a plan and the default again, each time with the same answer', async () => {
    const clientId = await register();
    const set = (...args: string[]): Promise<unknown> =>
      cli.json('quota', 'set', clientId, ...args);
    const numbered = { plan: 'custom', limit: 500, used: 0, remaining: 500 };
    expect(await set('--limit', '500', '--reason', 'Pilot')).toMatchObject(numbered);
    expect(await set('--limit', '500', '--reason', 'Pilot')).toMatchObject(numbered);
    expect(await set('--limit', 'unlimited')).toMatchObject({ limit: null, remaining: null });
    expect(await set('--plan', 'partner')).toMatchObject({ plan: 'partner', limit: 1000 });
    expect(await set('--limit', 'default')).toMatchObject({ plan: 'default', limit: 100 });
    expect(await set('--limit', '0', '--yes')).toMatchObject({ limit: 0, remaining: 0 });
  });

  it('says what it was before', async () => {
    const clientId = await register();
    const said: string[] = [];
    for (const args of [
      ['--limit', '1'],
      ['--limit', 'unlimited'],
      ['--plan', 'partner'],
      ['--limit', 'default'],
    ])
      said.push((await cli.run('quota', 'set', clientId, ...args)).stderr);
    expect(said).toEqual([
      'It was the plan "default", 100 posts.\n',
      'It was 1 post.\n',
      'It was no limit.\n',
      'It was the plan "partner", 1000 posts.\n',
    ]);
  });

  it('shows no less than nothing left when the limit falls below what is used', async () => {
    const clientId = await register();
    const period = periodOf(new Date());
    await dataSource.manager.insert(QuotaUsage, { clientId, period, used: 30 });
    await cli.run('quota', 'set', clientId, '--limit', '10');
    expect(await cli.json('quota', 'show', clientId)).toMatchObject({ used: 30, remaining: 0 });
  });

  it('records who set what, and why', async () => {
    const clientId = await register('--limit', '20', '--actor', 'olga');
    expect(await cli.json('quota', 'show', clientId)).toMatchObject({ plan: 'custom', limit: 20 });
    await cli.json('quota', 'set', clientId, '--plan', 'partner', '--reason', 'Signed');
    const trail = await auditTrail(dataSource, clientId);
    const settings = trail.filter(({ action }) => action === 'quota.set');
    expect(settings).toMatchObject([
      { actor: 'olga', reason: null, details: { plan: 'custom', limit: 20 } },
      {
        reason: 'Signed',
        details: { plan: 'partner', limit: 1000, before: { plan: 'custom', limit: 20 } },
      },
    ]);
  });

  it('refuses a plan that is not configured and changes nothing', async () => {
    const clientId = await register();
    const outcome = await cli.run('quota', 'set', clientId, '--plan', 'gold');
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toBe(
      'There is no plan "gold". The plans are: default, partner, first-party.\n',
    );
    expect(await cli.json('quota', 'show', clientId)).toMatchObject({ plan: 'default' });
  });

  it('says that there is no such app', async () => {
    for (const args of [['show'], ['set', '--limit', '5']]) {
      const outcome = await cli.run('quota', ...args, NOBODYS_ID);
      expect(outcome).toMatchObject({ code: 1, stdout: '' });
      expect(outcome.stderr).toContain('There is no app with this client_id.');
    }
  });

  it('opens the month once, sets no count back, and adds up the last month', async () => {
    const clientId = await register();
    await cli.json('quota', 'reset');
    const period = periodOf(new Date());
    await dataSource.manager.update(QuotaUsage, { clientId, period }, { used: 7 });
    expect(await cli.json('quota', 'reset')).toEqual({
      period,
      opened: 0,
      closed: 0,
      previous: { period: expect.stringMatching(/^\d{4}-\d\d$/), apps: 0, posts: 0 },
    });
    expect(await cli.json('quota', 'show', clientId)).toMatchObject({ used: 7 });
    expect((await cli.run('quota', 'reset')).stdout).toContain(`Opened ${period} for 0 apps.`);
  });
});

onSqlite('The unit that sets a quota', (database) => {
  const app = useTestApp(database);

  it('writes before it reads, so that no other process makes it start over', async () => {
    const { clientId } = await app().addClient();
    const [begin, first] = await app().statementsOf(() =>
      app().service(QuotaService).set(clientId, { limit: 5 }, { actor: 'test' }),
    );
    expect(begin).toMatch(/^BEGIN/);
    expect(first).toMatch(/^UPDATE/);
  });
});
