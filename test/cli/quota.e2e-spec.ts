import { nextPeriodStart, periodOf } from '../../src/modules/quota/quota-period.js';
import { QuotaUsage } from '../../src/modules/quota/quota.entities.js';
import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { useCommands } from '../support/commands.js';
import { onOneEngine } from '../support/database.js';
import { skipCounterCheck } from '../support/invariants.js';
import { auditTrail } from '../support/logs.js';

const CREATE = ['app', 'create', '--name', 'Tool Library', '--scope', 'posts.write'];
const REDIRECT_URI = ['--redirect-uri', 'https://garden.example/callback'];

onOneEngine('Commands "quota show", "quota set" and "quota reset"', (database) => {
  skipCounterCheck(database);
  const { app, cli } = useCommands(database);
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

  it('sets a number, no limit, a plan, and the default again, and prints the new and the previous quota', async () => {
    const clientId = await register();
    const set = ['quota', 'set', clientId, '--yes'];
    for (const [option, value, quota, previous] of [
      ['--limit', '1', { plan: 'custom', limit: 1, used: 0 }, 'the plan "default", 100 posts'],
      ['--limit', 'unlimited', { limit: null, remaining: null }, '1 post'],
      ['--plan', 'partner', { plan: 'partner', limit: 1000 }, 'no limit'],
      ['--limit', 'default', { plan: 'default', limit: 100 }, 'the plan "partner", 1000 posts'],
      ['--limit', '0', { limit: 0, remaining: 0 }, 'the plan "default", 100 posts'],
    ] as const) {
      const { stderr } = await cli.run(...set, option, value);
      expect(stderr).toBe(`Previously: ${previous}.\n`);
      expect(await cli.json(...set, option, value)).toMatchObject(quota);
    }
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
