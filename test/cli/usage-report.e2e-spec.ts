import { parse } from 'csv-parse/sync';
import { ApiUsageDaily } from '../../src/modules/quota/quota.entities.js';
import { UsageRollup } from '../../src/modules/quota/calls/usage-rollup.service.js';
import { addMilliseconds, DAY } from '../../src/platform/clock.js';
import { useCommands } from '../support/commands.js';
import { onEachEngine } from '../support/database.js';
import { deleteAllRows, recordCalls } from '../support/fixtures.js';
import { skipCounterCheck } from '../support/invariants.js';

onEachEngine('Command "usage report"', (database) => {
  skipCounterCheck(database);
  const { app, cli } = useCommands(database);
  const now = new Date();
  const moment = (daysAgo: number): Date => addMilliseconds(now, -daysAgo * DAY);
  const day = (daysAgo: number): string => moment(daysAgo).toISOString().slice(0, 10);
  const report = (...args: string[]) => cli.json<object[]>('usage', 'report', ...args);

  beforeEach(async () => {
    await deleteAllRows(app().dataSource);
  });

  async function recorded(): Promise<string> {
    const { clientId } = await app().addClient();
    const { dataSource } = app();
    const route = 'POST /dev/v1/posts';
    const errors = { clientId, route, status: 429 };
    await recordCalls(dataSource, [moment(1), moment(1), moment(40)], { clientId });
    await recordCalls(dataSource, [moment(1)], { ...errors, errorCode: 'quota_exceeded' });
    await recordCalls(dataSource, [moment(2), moment(2)], { ...errors, errorCode: 'rate_limited' });
    await recordCalls(dataSource, [moment(2)]);
    await app().service(UsageRollup).run();
    return clientId;
  }

  it('leaves test apps out, except the named one', async () => {
    const { clientId } = await app().addClient({ test: true });
    await recordCalls(app().dataSource, [moment(1), moment(1)], { clientId });
    await recordCalls(app().dataSource, [moment(1)]);
    await app().service(UsageRollup).run();
    expect(await report()).toEqual([{ day: day(1), calls: 1 }]);
    expect(await report('--by', 'app')).toHaveLength(1);
    expect(await report('--app', clientId)).toEqual([{ day: day(1), calls: 2 }]);
    const lines = await cli.json<{ client_id: string }[]>('quota', 'report');
    expect(lines.map(({ client_id }) => client_id)).not.toContain(clientId);
  });

  it('counts the calls of an app by day, route, status and error, of 30 days by default', async () => {
    const clientId = await recorded();
    const ofApp = (by: string, ...args: string[]) => report('--app', clientId, '--by', by, ...args);
    expect(await ofApp('day')).toEqual([
      { day: day(2), calls: 2 },
      { day: day(1), calls: 3 },
    ]);
    expect(await ofApp('route')).toEqual([
      { route: 'POST /dev/v1/posts', calls: 3 },
      { route: 'GET /dev/v1/me', calls: 2 },
    ]);
    expect(await ofApp('status')).toEqual([
      { status: 429, calls: 3 },
      { status: 200, calls: 2 },
    ]);
    expect(await ofApp('error')).toEqual([
      { error_code: 'rate_limited', calls: 2 },
      { error_code: 'quota_exceeded', calls: 1 },
    ]);
    expect(await ofApp('day', '--since', '60d', '--until', day(1))).toEqual([
      { day: day(40), calls: 1 },
      { day: day(2), calls: 2 },
    ]);
    expect(await ofApp('day', '--since', 'yesterday', '--until', 'today')).toEqual([
      { day: day(1), calls: 3 },
    ]);
    expect((await cli.run('usage', 'report', '--app', clientId)).stdout).toBe(
      `DAY         CALLS\n${day(2)}  2\n${day(1)}  3\n`,
    );
  });

  it('counts the calls of every app, also in CSV', async () => {
    const clientId = await recorded();
    const args = ['--by', 'app', '--since', '60d'];
    expect(await report(...args)).toMatchObject([{ client_id: clientId, calls: 6 }, { calls: 1 }]);
    const { stdout } = await cli.run('usage', 'report', ...args, '--csv');
    const rows = parse<Record<string, string>>(stdout, { columns: true });
    expect(rows[0]).toEqual({ client_id: clientId, calls: '6' });
  });

  it('counts today, and reports nothing without calls', async () => {
    expect((await cli.run('usage', 'report')).stdout).toBe('No calls are counted.\n');
    await recordCalls(app().dataSource, [new Date()]);
    await cli.json('usage', 'rollup', '--from', 'yesterday');
    expect(await report()).toEqual([{ day: new Date().toISOString().slice(0, 10), calls: 1 }]);
  });

  it('adds the errors of a day that 1.1 has counted', async () => {
    const { clientId } = await app().addClient();
    const call = { clientId, status: 429, errorCode: 'rate_limited' };
    await recordCalls(app().dataSource, [moment(1)], call);
    const route = 'GET /dev/v1/me';
    await app().dataSource.query(
      `INSERT INTO api_usage_daily (day, client_id, route, status, calls)
       VALUES ('${day(1)}', '${clientId}', '${route}', 429, 1)`,
    );
    await app().service(UsageRollup).run();
    const total = await app().dataSource.manager.findOneByOrFail(ApiUsageDaily, { clientId });
    expect(total).toMatchObject({ calls: 1, errors: { rate_limited: 1 } });
  });
});
