import { connect } from 'node:net';
import { Browser } from '../../support/browser.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { Cluster } from '../../support/cluster.js';
import { onOneEngine } from '../../support/database.js';
import { warningsAndErrors, type LogLine, logLines } from '../../support/logs.js';
import { Member } from '../../support/member.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { useTestApp, withoutTable } from '../../support/test-app.js';

onOneEngine('Request log', (database) => {
  const setupApp = useTestApp(database);
  let service: ServiceProcess;
  let requests = 0;
  beforeAll(async () => {
    setupApp().clock.set(new Date().toISOString());
    service = await startProcess({ url: database.url, env: { LOG_LEVEL: 'debug', DEMO: '0' } });
  });
  afterAll(async () => {
    await service?.stop();
  });

  /** Sends a request and returns its log lines, once the last of them (`request`) was written. */
  async function linesOf(path: string, init: RequestInit = {}): Promise<LogLine[]> {
    requests += 1;
    const id = `request-${requests}`;
    const headers = { ...init.headers, 'x-request-id': id };
    await fetch(`${service.baseUrl}${path}`, { redirect: 'manual', ...init, headers });
    return linesOfId(id);
  }

  /** Waits for the line `request` with this id of the client, and returns all lines of the request. */
  async function linesOfId(id: string): Promise<LogLine[]> {
    const requestLine = () =>
      logLines(service.output()).find(({ client_request_id }) => client_request_id === id);
    await expect.poll(requestLine).toBeDefined();
    const requestId = requestLine()?.request_id;
    return logLines(service.output()).filter(({ request_id }) => request_id === requestId);
  }

  it('contains method, route pattern, status, milliseconds, and the app of the token', async () => {
    const member = await Member.join(setupApp());
    const post = await member.publish();
    const headers = { authorization: `Bearer ${member.token}` };
    const lines = await linesOf(`/dev/v1/posts/${post.id}x?of=nobody`, { headers });
    expect(lines).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.+Z$/),
        context: 'Requests',
        request_id: expect.stringMatching(/^req_[0-9a-z]{26}$/),
        client_request_id: `request-${requests}`,
        msg: 'request',
        method: 'GET',
        route: '/dev/v1/posts/:id',
        status: 404,
        duration_ms: expect.any(Number),
        client_id: member.client.clientId,
        error: 'not_found',
      },
    ]);
    expect(lines[0]?.duration_ms).toBeGreaterThan(0);
    const [read] = await linesOf(`/dev/v1/posts/${post.id}`, { headers });
    expect(read).toMatchObject({ status: 200 });
    expect(read).not.toHaveProperty('error');
    expect(service.output()).not.toContain(post.id);
    expect(service.output()).not.toContain('of=nobody');
  });

  it('contains the app of a token request only if the client authentication succeeds', async () => {
    const client = await setupApp().addClient();
    const refresh = (secret?: string): Promise<LogLine[]> =>
      linesOf('/oauth/token', {
        method: 'POST',
        body: new URLSearchParams({
          client_id: client.clientId,
          client_secret: secret ?? '',
          grant_type: 'refresh_token',
          refresh_token: 'none',
        }),
      });
    const [authenticated] = await refresh(client.secret);
    expect(authenticated).toMatchObject({
      status: 400,
      client_id: client.clientId,
      error: 'invalid_grant',
    });
    const [rejected] = await refresh('wrong');
    expect(rejected).toMatchObject({ status: 401, error: 'invalid_client' });
    expect(rejected).not.toHaveProperty('client_id');
  });

  it('contains the app of a submitted sign-in form', async () => {
    const client = await setupApp().addClient();
    const visitor = new Browser(new Cluster(service.baseUrl, [service]));
    const page = await visitor.open(authorizeLink(client));
    await visitor.submit(page, '/oauth/authorize/sign-in', { phone: 'none' });
    const lines = (): LogLine[] =>
      logLines(service.output()).filter(({ route }) => route === '/oauth/authorize/sign-in');
    await expect.poll(lines).toMatchObject([{ method: 'POST', client_id: client.clientId }]);
  });

  it.each([
    ['an unknown path', 'GET', '/nothing/here', 'unrouted', 404, 'not_found'],
    ['an unknown path of OAuth', 'GET', '/oauth/nothing', 'unrouted', 404, 'invalid_request'],
    ['a wrong method', 'DELETE', '/dev/v1/me', 'unrouted', 405, 'method_not_allowed'],
    ['a missing token', 'GET', '/dev/v1/me', '/dev/v1/me', 401, 'unauthorized'],
    ['a malformed path', 'GET', '/dev/v1/posts/%E0%A4%A', 'unrouted', 400, 'invalid_request'],
    ['OPTIONS', 'OPTIONS', '/dev/v1/me', 'unrouted', 204, undefined],
    ['a file of the documentation', 'GET', '/docs/swagger-ui.css', 'unrouted', 200, undefined],
    ['the OpenAPI document', 'GET', '/openapi.json', '/openapi.json', 200, undefined],
    [
      'an authorization request without a client_id',
      'GET',
      '/oauth/authorize',
      '/oauth/authorize',
      400,
      'unknown_app',
    ],
  ])('C26 has one line for %s (%s %s)', async (_kind, method, path, route, status, error) => {
    const lines = await linesOf(path, { method });
    expect(lines).toMatchObject([
      { level: 'info', msg: 'request', method, route, status, ...(error && { error }) },
    ]);
    expect(service.output().split(String(lines[0]?.request_id))).toHaveLength(2);
  });

  it.each(['/livez', '/readyz'])('has a debug line for %s', async (path) => {
    expect(await linesOf(path)).toMatchObject([{ level: 'debug', route: path, status: 200 }]);
  });

  it('has a second line, with a stack, for an internal error', async () => {
    const { token } = await Member.join(setupApp());
    const headers = { authorization: `Bearer ${token}` };
    const lines = await withoutTable(setupApp(), 'posts', () =>
      linesOf('/dev/v1/posts', { headers }),
    );
    expect(lines).toMatchObject([
      { level: 'error', context: 'ApiErrorFilter', msg: 'internal_error' },
      { level: 'info', msg: 'request', status: 500, error: 'internal_error' },
    ]);
    expect(lines[0]?.stack).toMatch(/^QueryFailedError: .*\n {4}at /);
  });

  it('has the status 499 and no error if the client disconnects', async () => {
    const { hostname, port } = new URL(service.baseUrl);
    const member = await Member.join(setupApp());
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /dev/v1/posts HTTP/1.1\r\nHost: x\r\nX-Request-Id: disconnected\r\nAuthorization: Bearer ${member.token}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
      () => setTimeout(() => socket.destroy(), 200),
    );
    const lines = await linesOfId('disconnected');
    expect(lines).toMatchObject([{ level: 'info', route: '/dev/v1/posts', status: 499 }]);
    expect(lines[0]).not.toHaveProperty('error');
  });

  it('has no other warnings or errors', () => {
    const unexpected = warningsAndErrors(service.output()).filter(
      ({ msg }) => msg !== 'internal_error',
    );
    expect(unexpected).toEqual([]);
  });
});
