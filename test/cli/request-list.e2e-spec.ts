import { parse } from 'csv-parse/sync';
import { ApiCall } from '../../src/modules/quota/quota.entities.js';
import { addMilliseconds, DAY, HOUR, MINUTE } from '../../src/platform/clock.js';
import { newId } from '../../src/platform/ids.js';
import { useMemberAndCommands } from '../support/commands.js';
import { onEachEngine } from '../support/database.js';
import { recordCalls } from '../support/fixtures.js';
import { Member } from '../support/member.js';
import { flushDeferredWrites } from '../support/test-app.js';

interface Listed {
  requests: { id: string; status: number; error_code: string | null; at: string }[];
  next_before: string | null;
}

onEachEngine('Command "request list"', (database) => {
  const { app, cli, member } = useMemberAndCommands(database);

  const list = (...args: string[]): Promise<Listed> =>
    cli.json<Listed>('request', 'list', '--app', member().client.clientId, ...args);
  const statusesOf = ({ requests }: Listed): number[] => requests.map(({ status }) => status);

  it('says why an app got an error: lists calls with their error codes, newest first', async () => {
    const { clientId } = member().client;
    await cli.json('quota', 'set', clientId, '--limit', '1', '--yes');
    app().clock.set(addMilliseconds(new Date(), -3000).toISOString());
    await member().publish();
    app().clock.advance(1);
    const { headers } = await member().post('/posts', { content: 'Hi' });
    app().clock.advance(1);
    await member().get('/me');
    await flushDeferredWrites(app());
    const shown = await list();
    expect(statusesOf(shown)).toEqual([200, 429, 201]);
    expect(shown.requests[1]).toEqual({
      id: expect.stringMatching(/^call_/),
      request_id: headers.get('x-request-id'),
      at: addMilliseconds(app().clock.now(), -1).toISOString(),
      client_id: clientId,
      user_id: member().user.id,
      method: 'POST',
      route: '/dev/v1/posts',
      status: 429,
      error_code: 'quota_exceeded',
      duration_ms: 0,
      metered: false,
    });
    expect(shown.next_before).toBeNull();
    const { stdout } = await cli.run(
      'request',
      'list',
      '--app',
      clientId,
      '--error',
      'quota_exceeded',
    );
    expect(stdout.split('\n')[0]).toMatch(
      /^TIME +STATUS +ERROR +CLIENT_ID +USER_ID +REQUEST_ID +MS +ROUTE$/,
    );
    expect(stdout.split('\n')[1]).toMatch(/Z {2}429 +quota_exceeded .* POST \/dev\/v1\/posts$/);
    const show = await cli.run('request', 'show', headers.get('x-request-id') ?? '');
    expect(show.stdout).toMatch(/^error +quota_exceeded$/m);
  });

  it('filters by user, status, class of status, error and route', async () => {
    const other = await Member.join(app(), { client: member().client });
    await member().get('/me');
    await member().get('/posts/nonsense');
    await other.get('/posts?page=0');
    await flushDeferredWrites(app());
    app().clock.set(new Date().toISOString());
    expect(statusesOf(await list('--status', '404'))).toEqual([404]);
    expect(statusesOf(await list('--status', '4xx'))).toHaveLength(2);
    expect(statusesOf(await list('--error', 'not_found'))).toEqual([404]);
    expect(statusesOf(await list('--route', 'GET /dev/v1/posts/:id'))).toEqual([404]);
    expect((await list('--route', '/dev/v1/me')).requests).toHaveLength(1);
    expect((await list('--route', '/dev/v1')).requests).toEqual([]);
    const ofUser = await cli.json<Listed>('request', 'list', '--user', other.user.id);
    expect(statusesOf(ofUser)).toEqual([400]);
  });

  it('continues with --before, also among calls of one millisecond', async () => {
    const at = addMilliseconds(new Date(), -MINUTE);
    const { clientId } = member().client;
    await recordCalls(app().dataSource, [at, at, at], { clientId });
    await recordCalls(app().dataSource, [addMilliseconds(at, -20 * DAY)], { clientId });
    const args = ['--since', '30d', '--limit', '2'];
    const first = await list(...args);
    expect(first.requests).toHaveLength(2);
    const second = await list(...args, '--before', first.next_before ?? '');
    expect(second.next_before).toBeNull();
    const ids = [...first.requests, ...second.requests].map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].toSorted().toReversed());
    expect(ids).toHaveLength(4);
  });

  it('lists the calls of the last 24 hours by default, and those before --until', async () => {
    const now = new Date();
    const { clientId } = member().client;
    const ages = [HOUR, 23 * HOUR, 25 * HOUR];
    const moments = ages.map((age) => addMilliseconds(now, -age));
    await recordCalls(app().dataSource, moments, { clientId });
    expect((await list()).requests).toHaveLength(2);
    expect((await list('--since', '2d')).requests).toHaveLength(3);
    expect((await list('--until', '2h')).requests).toHaveLength(2);
    expect((await list('--since', '2d', '--until', '24h')).requests).toHaveLength(1);
  });

  it('refuses more than a day without --app and --user, and an empty time range', async () => {
    expect(await cli.run('request', 'list', '--since', '25h')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'The time is more than a day. Add --app or --user, or set --since and --until at most 24 hours apart.\n',
    });
    const day = ['--since', '2026-11-20', '--until', '2026-11-21'];
    expect(await cli.run('request', 'list', ...day)).toMatchObject({ code: 0, stderr: '' });
    const reversed = await cli.run('request', 'list', '--since', '1h', '--until', '2h');
    expect(reversed).toMatchObject({ code: 1, stdout: '' });
    expect(reversed.stderr).toMatch(
      /^The time range is empty: --since is 20\S+Z and --until is 20/,
    );
  });

  it.each([
    ['--status', '42', 'It must be a status such as 429 or 4xx.'],
    ['--error', 'nonsense', 'Allowed choices are '],
    ['--app', 'nonsense', 'It must be a client_id such as svc_app_'],
  ])('rejects %s %s', async (option, value, message) => {
    const { code, stderr } = await cli.run('request', 'list', option, value);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it('prints CSV', async () => {
    await member().get('/posts/nonsense');
    await flushDeferredWrites(app());
    const args = ['request', 'list', '--app', member().client.clientId, '--csv'];
    const { stdout } = await cli.run(...args);
    const [row] = parse<Record<string, string>>(stdout, { columns: true });
    expect(row).toMatchObject({ status: '404', error_code: 'not_found', metered: 'false' });
    expect(row?.at).toMatch(/^20\S+Z$/);
    expect(await cli.run(...args, '--json')).toMatchObject({ code: 2 });
  });

  it('reads calls that 1.1 recorded, without an error code', async () => {
    const { clientId } = member().client;
    const at = new Date();
    const [time = ''] = at.toISOString().replace('T', ' ').split('Z');
    await app().dataSource.query(
      `INSERT INTO api_calls (at, id, client_id, user_id, route, status, duration_ms, request_id, metered)
       VALUES ('${time}', '${newId('call', at)}', '${clientId}', NULL, 'GET /dev/v1/me', 500, 1, 'req_x', 0)`,
    );
    expect(await app().dataSource.manager.countBy(ApiCall, { clientId })).toBe(1);
    expect((await list()).requests).toMatchObject([{ status: 500, error_code: null }]);
  });
});
