import { nextPeriodStart, periodOf } from '../../src/modules/quota/quota-period.js';
import { QuotaUsage } from '../../src/modules/quota/quota.entities.js';
import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { CommandLine } from '../support/command-line.js';
import { onOneEngine } from '../support/database.js';
import { skipCounterCheck } from '../support/invariants.js';
import { auditTrail } from '../support/logs.js';
import { useTestApp } from '../support/test-app.js';

const UNKNOWN_APP_ID = 'svc_app_01h455vb4pex5vsknk084sn02q';
const CREATE = ['app', 'create', '--name', 'Tool Library', '--scope', 'posts.write'];
const REDIRECT_URI = ['--redirect-uri', 'https://garden.example/callback'];

onOneEngine('Commands "quota show", "quota set" and "quota reset"', (database) => {
  skipCounterCheck(database);
  const cli = new CommandLine(database);
  const app = useTestApp(database);
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

  it('sets a number, no limit, a plan, and the default again, and prints the new quota each time', async () => {
    const clientId = await register();
    const set = (...args: string[]): Promise<unknown> =>
      cli.json('quota', 'set', clientId, '--yes', ...args);
    const numbered = { plan: 'custom', limit: 500, used: 0, remaining: 500 };
    expect(await set('--limit', '500', '--reason', 'Pilot')).toMatchObject(numbered);
    expect(await set('--limit', '500', '--reason', 'Pilot')).toMatchObject(numbered);
    expect(await set('--limit', 'unlimited')).toMatchObject({ limit: null, remaining: null });
    expect(await set('--plan', 'partner')).toMatchObject({ plan: 'partner', limit: 1000 });
    expect(await set('--limit', 'default')).toMatchObject({ plan: 'default', limit: 100 });
    expect(await set('--limit', '0', '--yes')).toMatchObject({ limit: 0, remaining: 0 });
  });

  it('prints the previous limit on standard error', async () => {
    const clientId = await register();
    const printed: string[] = [];
    for (const args of [
      ['--limit', '1'],
      ['--limit', 'unlimited'],
      ['--plan', 'partner'],
      ['--limit', 'default'],
    ])
      printed.push((await cli.run('quota', 'set', clientId, '--yes', ...args)).stderr);
    expect(printed).toEqual([
      'Previously: the plan "default", 100 posts.\n',
      'Previously: 1 post.\n',
      'Previously: no limit.\n',
      'Previously: the plan "partner", 1000 posts.\n',
    ]);
  });

  it('shows 0 remaining posts when the limit is lower than the used posts', async () => {
    const clientId = await register();
    const period = periodOf(new Date());
    await manager().insert(QuotaUsage, { clientId, period, used: 30 });
    await cli.run('quota', 'set', clientId, '--yes', '--limit', '10');
    expect(await cli.json('quota', 'show', clientId)).toMatchObject({ used: 30, remaining: 0 });
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

  it('rejects an unknown app', async () => {
    for (const args of [['show'], ['set', '--limit', '5']]) {
      const outcome = await cli.run('quota', ...args, UNKNOWN_APP_ID);
      expect(outcome).toMatchObject({ code: 1, stdout: '' });
      expect(outcome.stderr).toContain('There is no app with this client_id.');
    }
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
