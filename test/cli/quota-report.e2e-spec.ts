import { parse } from 'csv-parse/sync';
import { App } from '../../src/modules/oauth/clients/client.entities.js';
import { QuotaUsage } from '../../src/modules/quota/quota.entities.js';
import { type QuotaAssignment, QuotaService } from '../../src/modules/quota/quota.service.js';
import { QuotaMonths } from '../../src/modules/quota/months/quota-months.service.js';
import { useCommands } from '../support/commands.js';
import { onOneEngine } from '../support/database.js';
import { deleteAllRows } from '../support/fixtures.js';
import { skipCounterCheck } from '../support/invariants.js';
import { statementsWithoutBackground } from '../support/test-app.js';

const OPERATOR = { actor: 'test' };

onOneEngine('Command "quota report"', (database) => {
  skipCounterCheck(database);
  const { app, cli } = useCommands(database);
  const manager = () => app().dataSource.manager;
  /** A past month for the commands, which use the real clock. */
  const period = '2026-10';

  beforeEach(async () => {
    await deleteAllRows(app().dataSource);
    app().clock.set('2026-10-11T00:00:00.000Z');
  });

  /** @param used null for an app without a counter */
  async function appThatUsed(
    used: number | null,
    { quota, name }: { quota?: QuotaAssignment; name?: string } = {},
  ) {
    const { clientId } = await app().addClient(name === undefined ? {} : { name });
    if (used !== null) await manager().insert(QuotaUsage, { clientId, period, used });
    if (quota) await app().service(QuotaService).set(clientId, quota, OPERATOR);
    return clientId;
  }
  const report = async (month?: string) => {
    const apps = await manager().find(App);
    return app().service(QuotaMonths).report(apps, month);
  };

  it('lists every app, sorted by the used percentage of its limit', async () => {
    const unused = await appThatUsed(null);
    const halfUsed = await appThatUsed(500, { quota: { plan: 'partner' } });
    const almostUsedUp = await appThatUsed(99);
    const unlimited = await appThatUsed(7000, { quota: { plan: 'first-party' } });
    const shown = await cli.json('quota', 'report', '--period', period);
    const common = { name: 'Garden Share', period };
    expect(shown).toEqual([
      {
        ...common,
        ...{ client_id: almostUsedUp, plan: 'default', limit: 100, used: 99 },
        ...{ remaining: 1, percent: 99, projected: 99 },
      },
      {
        ...common,
        ...{ client_id: halfUsed, plan: 'partner', limit: 1000, used: 500 },
        ...{ remaining: 500, percent: 50, projected: 500 },
      },
      {
        ...common,
        ...{ client_id: unused, plan: 'default', limit: 100, used: 0 },
        ...{ remaining: 100, percent: 0, projected: 0 },
      },
      {
        ...common,
        ...{ client_id: unlimited, plan: 'first-party', limit: null, used: 7000 },
        ...{ remaining: null, percent: null, projected: 7000 },
      },
    ]);
    const { stdout } = await cli.run('quota', 'report', '--period', period);
    expect(stdout.split('\n').slice(0, -1)).toEqual([
      'CLIENT_ID                           PLAN         LIMIT  USED  LEFT  %   END   NAME',
      `${almostUsedUp}  default      100    99    1     99  99    Garden Share`,
      `${halfUsed}  partner      1000   500   500   50  500   Garden Share`,
      `${unused}  default      100    0     100   0   0     Garden Share`,
      `${unlimited}  first-party  none   7000  -     -   7000  Garden Share`,
    ]);
  });

  it('shows the names of apps, cut at the width of a terminal only', async () => {
    const name = 'The Riverside Neighbourhood Garden Share and Tool Library';
    const clientId = await appThatUsed(7, { name });
    const words = ['quota', 'report', '--period', period];
    expect((await cli.run(...words)).stdout).toContain(`  7    ${name}\n`);
    expect((await cli.runAtTerminal(80, ...words)).stdout.split('\n')).toEqual([
      'CLIENT_ID                           LIMIT  USED  %  END  NAME',
      `${clientId}  100    7     7  7    The Riverside Neighbou…`,
      '',
    ]);
    const wide = (await cli.runAtTerminal(120, ...words)).stdout.split('\n');
    expect(wide[0]).toMatch(/ PLAN +LIMIT +USED +LEFT +% +END +NAME$/);
    expect(wide[1]).toHaveLength(120);
  });

  it('projects the posts at the end of the month from the elapsed part', async () => {
    await appThatUsed(33);
    expect(await report()).toMatchObject([{ used: 33, projected: 102 }]);
    app().clock.set('2026-10-01T00:00:00.001Z');
    expect(await report()).toMatchObject([{ projected: 33 * 31 }]);
    app().clock.set('2026-10-31T23:59:59.999Z');
    expect(await report()).toMatchObject([{ projected: 33 }]);
    app().clock.set('2026-12-05T00:00:00.000Z');
    expect(await report(period)).toMatchObject([{ projected: 33, percent: 33 }]);
  });

  it('shows a past month with the plan and limit that the app had at its end', async () => {
    const clientId = await appThatUsed(80, { quota: { plan: 'partner' } });
    app().clock.set('2026-11-01T00:00:00.000Z');
    expect(await app().service(QuotaMonths).closeEarlier()).toMatchObject({ closed: 1 });
    await app().service(QuotaService).set(clientId, { limit: 10 }, OPERATOR);
    app().clock.set('2026-11-05T00:00:00.000Z');
    expect(await app().service(QuotaMonths).closeEarlier()).toMatchObject({ closed: 0 });
    const ended = { plan: 'partner', limit: 1000, used: 80, percent: 8 };
    expect(await report(period)).toMatchObject([ended]);
    expect(await report()).toMatchObject([{ plan: 'custom', limit: 10, used: 0 }]);
    const row = await manager().findOneByOrFail(QuotaUsage, { clientId, period });
    expect(row.closedAt).toEqual(new Date('2026-11-01T00:00:00.000Z'));
  });

  it('records that a month ended without a limit', async () => {
    const clientId = await appThatUsed(80, { quota: { limit: null } });
    app().clock.set('2026-11-01T00:00:00.000Z');
    await app().service(QuotaMonths).closeEarlier();
    await app().service(QuotaService).set(clientId, { limit: 10 }, OPERATOR);
    expect(await report(period)).toMatchObject([{ limit: null, remaining: null, percent: null }]);
  });

  it('prints CSV whose cells a spreadsheet does not execute as formulas', async () => {
    const names = [
      '=HYPERLINK("http://evil.example")',
      '+1',
      '-2+3',
      '@SUM(A1)',
      'Plain, "quoted"',
    ];
    for (const name of names) await appThatUsed(1, { name });
    const { code, stdout } = await cli.run('quota', 'report', '--period', period, '--csv');
    expect(code).toBe(0);
    const rows: Record<string, string>[] = parse(stdout, { columns: true });
    expect(Object.keys(rows[0] ?? {})).toEqual(
      ['client_id', 'name', 'plan', 'limit', 'used', 'remaining', 'percent', 'projected'].concat(
        'period',
      ),
    );
    expect(rows.map(({ name }) => name).toSorted()).toEqual(
      [...names.slice(0, 4).map((name) => `'${name}`), 'Plain, "quoted"'].toSorted(),
    );
    expect(rows[0]).toMatchObject({
      plan: 'default',
      limit: '100',
      used: '1',
      percent: '1',
      period,
    });
  });

  it('prints only the CSV header when there is no app', async () => {
    const { stdout } = await cli.run('quota', 'report', '--csv');
    expect(stdout).toMatch(/^client_id,name,[a-z,]+period\n$/);
    expect(await cli.json('quota', 'report')).toEqual([]);
  });

  it('rejects a month in the future', async () => {
    expect(await cli.run('quota', 'report', '--period', '2999-01')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'The month 2999-01 has not begun.\n',
    });
  });

  it('executes as many statements for 13 apps as for one', async () => {
    await appThatUsed(1);
    const few = await statementsWithoutBackground(app(), () => report(period));
    for (let count = 1; count <= 12; count += 1)
      await appThatUsed(count, { quota: { limit: count } });
    const many = await statementsWithoutBackground(app(), () => report(period));
    expect(many.length).toBe(few.length);
    expect(await report(period)).toHaveLength(13);
  });
});
