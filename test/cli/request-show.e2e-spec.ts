import { DAY, MINUTE } from '../../src/platform/clock.js';
import { newId } from '../../src/platform/ids.js';
import { onEachEngine } from '../support/database.js';
import { recordCalls } from '../support/fixtures.js';
import { obtainTokens, sendForm } from '../support/oauth-flow.js';
import { flushDeferredWrites } from '../support/test-app.js';
import { useMemberAndCommands } from '../support/commands.js';

interface Shown {
  calls: Record<string, unknown>[];
  events: Record<string, unknown>[];
}

onEachEngine('Command "request show"', (database) => {
  const { app, cli, member } = useMemberAndCommands(database);

  const idOf = ({ headers }: Response): string => headers.get('x-request-id') ?? '';
  const show = (id: string): Promise<Shown> => cli.json<Shown>('request', 'show', id);

  it('shows the API call', async () => {
    const id = idOf(await member().get('/posts/nonsense'));
    await member().get('/me');
    await flushDeferredWrites(app());
    const now = app().clock.now().toISOString();
    expect(await show(id)).toEqual({
      request_id: id,
      received_at: now,
      calls: [
        {
          at: now,
          client_id: member().client.clientId,
          user_id: member().user.id,
          method: 'GET',
          route: '/dev/v1/posts/:id',
          status: 404,
          error_code: 'not_found',
          duration_ms: 0,
          metered: false,
        },
      ],
      events: [],
    });
    const { code, stdout, stderr } = await cli.run('request', 'show', id);
    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        `request_id   ${id}`,
        `received_at  ${now}`,
        '',
        `time      ${now}`,
        `app       ${member().client.clientId} (${member().client.name})`,
        `user      ${member().user.id} (${member().user.name})`,
        'method    GET',
        'route     /dev/v1/posts/:id',
        'status    404',
        'error     not_found',
        'duration  0 ms',
        'quota     not counted\n',
      ].join('\n'),
    );
    expect(stderr).toBe(`The access log has this id as request_id: grep ${id} FILE\n`);
  });

  it('shows a publish, which is recorded with the time of the post', async () => {
    const response = await member().post('/posts', { content: 'Hi' });
    const { calls } = await show(idOf(response));
    expect(calls).toMatchObject([{ method: 'POST', route: '/dev/v1/posts', metered: true }]);
  });

  it('shows the audit events of a request without an API call', async () => {
    const { refresh_token: token } = await obtainTokens(app(), member().client);
    const id = idOf(await sendForm(app(), '/oauth/revoke', member().client, { token }));
    const { calls, events } = await show(id);
    expect(calls).toEqual([]);
    expect(events).toMatchObject([{ action: 'grant.revoked', request_id: id }]);
    expect((await cli.run('request', 'show', id)).stdout).toMatch(/Z {2}grant\.revoked\n {2}by /);
  });

  it('shows a request of long ago, and its erased user', async () => {
    const at = new Date(Date.now() - 100 * DAY);
    const requestId = newId('req', at);
    await recordCalls(app().dataSource, [new Date(at.getTime() + MINUTE)], { requestId });
    expect((await show(requestId)).calls).toMatchObject([{ user_id: null, method: 'GET' }]);
    expect((await cli.run('request', 'show', requestId)).stdout).toMatch(/^user +erased$/m);
  });

  it('shows how long ago the request was, at a terminal only', async () => {
    const at = new Date(Date.now() - 3 * DAY);
    const requestId = newId('req', at);
    await recordCalls(app().dataSource, [at], { requestId });
    const { stdout } = await cli.runAtTerminal(80, 'request', 'show', requestId);
    expect(stdout).toMatch(/^received_at {2}20\S{17}Z \(3 days ago\)$/m);
  });

  it('fails for an unknown request, with the retention of the logs and the search in the access log', async () => {
    const id = newId('req', new Date('2026-01-02T03:04:05.678Z'));
    expect(await cli.run('request', 'show', id)).toEqual({
      code: 1,
      stdout: '',
      stderr: `No API call and no audit event has the id ${id}, of 2026-01-02T03:04:05.678Z. Calls are kept for 400 days (CALL_LOG_DAYS) and events for 730 (AUDIT_LOG_DAYS); the access log has every request: grep ${id} FILE\n`,
    });
  });

  it('fails for an id with a time in the future, or at the start of the calendar', async () => {
    for (const [id, message] of [
      ['req_7zzzzzzzzzzzzzzzzzzzzzzzzz', 'is in the future. Check the id.\n'],
      ['req_00000000000000000000000000', 'of 1970-01-01T00:00:00.000Z.'],
    ] as const) {
      const { code, stderr } = await cli.run('request', 'show', id);
      expect(code).toBe(1);
      expect(stderr).toContain(message);
    }
  });

  it('rejects an id that the client chose', async () => {
    const { code, stdout, stderr } = await cli.run('request', 'show', 'my-id');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain("'my-id' is invalid for argument 'request_id'");
    expect(stderr).toContain('It must be a request id such as req_…');
    expect(stderr).toContain('as client_request_id');
  });
});
