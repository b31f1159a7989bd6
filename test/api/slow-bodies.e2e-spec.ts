import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiCall } from '../../src/modules/quota/api-call.entity.js';
import { CallLog } from '../../src/modules/quota/call-log.service.js';
import { expectApiError } from '../support/api.js';
import { onOneEngine, onSqlite } from '../support/database.js';
import { allEqual, countPublished } from '../support/fixtures.js';
import { warningsAndErrors, logLines } from '../support/logs.js';
import { Member } from '../support/member.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';
import { useTestApp } from '../support/test-app.js';

const TIMEOUT_MS = 500;
/** Node looks for what is overdue once a second; the rest is for a slow machine. */
const LONGEST_DELAY_MS = 3000;

/** Sends this much of a request, and keeps the connection open. */
async function begin(baseUrl: string, lines: readonly string[], body: string): Promise<Socket> {
  const { port, host } = new URL(baseUrl);
  const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  socket.write([...lines, `Host: ${host}`, '', body].join('\r\n'));
  return socket;
}

function publish(token: string, ...headers: string[]): string[] {
  return [
    'POST /dev/v1/posts HTTP/1.1',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    ...headers,
  ];
}

/** The one answer on a connection that the server ends. */
async function answerOf(socket: Socket): Promise<Response> {
  const [head = '', body] = (await text(socket)).split('\r\n\r\n');
  const [statusLine = '', ...fields] = head.split('\r\n');
  const headers = fields.map((field): [string, string] => {
    const [name = '', ...value] = field.split(': ');
    return [name, value.join(': ')];
  });
  return new Response(body, { status: Number(statusLine.split(' ')[1]), headers });
}

onOneEngine('A body that does not arrive', (database) => {
  const app = useTestApp(database, { REQUEST_TIMEOUT_MS: String(TIMEOUT_MS) });

  it.each([
    ['with a length', ['Content-Length: 16']],
    ['in chunks', ['Transfer-Encoding: chunked']],
    ['compressed', ['Content-Length: 16', 'Content-Encoding: gzip']],
    ['too large', ['Content-Length: 10000000']],
  ])('C20 %s is a 408 in time, and the connection ends with it', async (_, headers) => {
    const member = await Member.join(app());
    const startedAt = performance.now();
    const socket = await begin(app().baseUrl, publish(member.token, ...headers), '1');
    const answer = await answerOf(socket);
    expect(performance.now() - startedAt).toBeGreaterThan(TIMEOUT_MS - 20);
    expect(answer.headers.get('connection')).toBe('close');
    await expectApiError(answer, 408, 'request_timeout');
    expect(await countPublished(app(), member)).toEqual(allEqual(0));
    await app().service(CallLog).flush();
    const { clientId } = member.client;
    const calls = await app().dataSource.manager.findBy(ApiCall, { clientId });
    expect(calls).toMatchObject([{ route: 'POST /dev/v1/posts', status: 408 }]);
  });

  it('C20 One that arrives slowly, but in time, is taken', async () => {
    const member = await Member.join(app());
    const body = '{"content":"Hi"}';
    const headers = [`Content-Length: ${body.length}`, 'Connection: close'];
    const socket = await begin(app().baseUrl, publish(member.token, ...headers), '');
    for (const part of [body.slice(0, 8), body.slice(8)]) {
      await sleep(TIMEOUT_MS / 5);
      socket.write(part);
    }
    expect((await answerOf(socket)).status).toBe(201);
  });

  it('C20 Who may not call is not waited for', async () => {
    const startedAt = performance.now();
    const headers = ['Content-Length: 16', 'Connection: close'];
    const socket = await begin(app().baseUrl, publish('svcat_x', ...headers), '{');
    await expectApiError(await answerOf(socket), 401, 'invalid_token');
    expect(performance.now() - startedAt).toBeLessThan(TIMEOUT_MS);
  });

  it("C20 At the token endpoint it is a 408 in OAuth's shape", async () => {
    const lines = [
      'POST /oauth/token HTTP/1.1',
      'Content-Type: application/x-www-form-urlencoded',
      'Content-Length: 20',
    ];
    const answer = await answerOf(await begin(app().baseUrl, lines, 'grant_type='));
    expect([answer.status, answer.headers.get('connection'), await answer.json()]).toEqual([
      408,
      'close',
      { error: 'invalid_request', error_description: expect.stringMatching(/in time/) },
    ]);
  });
});

onSqlite('Headers that do not arrive', (database) => {
  const app = useTestApp(database, { REQUEST_TIMEOUT_MS: String(TIMEOUT_MS) });

  it.each([
    ['stop', 'GET /livez HTTP/1.1'],
    ['never begin', undefined],
  ])('C20 When they %s, the connection ends soon after their time', async (_, line) => {
    const startedAt = performance.now();
    const socket = connect(app().config.server.port, '127.0.0.1');
    await once(socket, 'connect');
    if (line !== undefined) socket.write(`${line}\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
    const took = performance.now() - startedAt;
    expect(took).toBeGreaterThan(TIMEOUT_MS - 20);
    expect(took).toBeLessThan(TIMEOUT_MS + LONGEST_DELAY_MS);
  });
});

onOneEngine('A client that leaves', (database) => {
  const operator = useTestApp(database);
  let service: ServiceProcess;
  beforeAll(async () => {
    operator().clock.set(new Date().toISOString());
    service = await startProcess({
      url: database.url,
      env: { MIGRATE: '0', DEMO: '0' },
    });
  });
  afterAll(() => service?.stop());

  it.each([
    ['a length', ['Content-Length: 100']],
    ['chunks', ['Transfer-Encoding: chunked']],
    ['a compressed body', ['Content-Length: 100', 'Content-Encoding: gzip']],
  ])(
    'C22 in the middle of %s is noted by its request id, and is no fault',
    async (kind, headers) => {
      const member = await Member.join(operator());
      const requestId = `left-in-${kind.replaceAll(' ', '-')}`;
      const lines = publish(member.token, `X-Request-Id: ${requestId}`, ...headers);
      const socket = await begin(service.baseUrl, lines, '{"content"');
      await sleep(200);
      socket.destroy();
      const told = () =>
        logLines(service.output()).filter(({ request_id }) => request_id === requestId);
      await expect.poll(told, { timeout: 5000 }).toHaveLength(1);
      expect(told()).toMatchObject([
        { level: 'info', msg: 'request', route: '/dev/v1/posts', status: 499 },
      ]);
      expect(warningsAndErrors(service.output())).toEqual([]);
      expect(await countPublished(operator(), member)).toEqual(allEqual(0));
      expect((await fetch(`${service.baseUrl}/livez`)).status).toBe(200);
    },
  );
});
