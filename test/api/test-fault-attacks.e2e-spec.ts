import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Bulkhead } from '../../src/platform/http/server/bulkhead.js';
import { onOneEngine, onSqlite } from '../support/database.js';
import { footprintOf, Member } from '../support/member.js';
import { json } from '../support/responses.js';
import {
  flushDeferredWrites,
  requestsInFlight,
  statementsWithoutBackground,
  TestApp,
  useTestApp,
} from '../support/test-app.js';

const POST = { content: 'Free plums' };
/** Permits of the bulkhead, for one database connection. */
const PERMITS = 5;
const SHORT_MS = 1000;
/** Waiting requests. All are authenticated within the time limit of the queue, also on a busy machine. */
const WAITING = 40;
const POLL = { timeout: 5000 };

interface Item {
  id: string;
  method: string;
  route: string;
  status: number;
  errorCode: string | null;
}

async function joinTestApp(app: TestApp): Promise<Member> {
  const user = await app.addUser({ testCode: '424242' });
  return Member.join(app, { user, client: await app.addClient({ test: true }) });
}

/** Sends a request with a fault. Undefined if the connection closes without a response. */
function send(
  { app, token }: Member,
  fault: string,
  path: string,
  { method = 'GET', body, ...more }: RequestInit & { body?: string } = {},
): Promise<Response | undefined> {
  const headers = {
    authorization: `Bearer ${token}`,
    'test-fault': fault,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...more.headers,
  };
  return app.fetch(`/dev/v1${path}`, { ...more, method, body, headers }).catch(() => undefined);
}

onOneEngine('Attacks with Test-Fault', (database) => {
  const app = useTestApp(database, {
    DB_POOL_SIZE: '1',
    DB_TIMEOUT_MS: String(SHORT_MS),
    DB_QUEUE_TIMEOUT_MS: String(SHORT_MS),
    QUOTA_DEFAULT_LIMIT: '1000',
  });
  let test: Member;
  let real: Member;
  beforeAll(async () => {
    test = await joinTestApp(app());
    real = await Member.join(app());
  });

  /** The requests of the app as it sees them, newest first. */
  async function requestsOf(member: Member): Promise<Item[]> {
    await flushDeferredWrites(app());
    return (await json<{ data: Item[] }>(await member.get('/requests?limit=100'))).data;
  }

  /** Expects that no request is left, and that all permits are free. */
  async function expectNothingLeft(): Promise<void> {
    await expect.poll(() => requestsInFlight(app()), POLL).toBe(0);
    const statuses = await Promise.all(
      Array.from({ length: 3 * PERMITS }, async () => (await real.get('/me')).status),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(app().service(Bulkhead).waiting).toBe(0);
  }

  it('O173 quota_exceeded fails no other publish of the same moment, of this app or a real one', async () => {
    const before = [await footprintOf(test), await footprintOf(real)];
    const publish = (member: Member, fault: string) =>
      send(member, fault, '/posts', { method: 'POST', body: JSON.stringify(POST) });
    const statuses = await Promise.all(
      Array.from({ length: 24 }, async (_, index) => {
        const fails = index % 3 === 1;
        const member = index % 3 === 2 ? real : test;
        const response = await publish(member, fails || member === real ? 'quota_exceeded' : '');
        return [fails, response?.status];
      }),
    );
    for (const [fails, status] of statuses) expect(status).toBe(fails ? 429 : 201);
    const after = [await footprintOf(test), await footprintOf(real)];
    expect(after.map(({ quotaUsed }) => quotaUsed)).toEqual(
      before.map(({ quotaUsed }) => quotaUsed + 8),
    );
  });

  it('O173 lost_response sends no byte for HEAD, 304, 204, an error and pipelined requests, and records each as 499', async () => {
    const { id } = await test.publish();
    const { id: commentId } = await test.comment(id);
    const etag = (await test.get(`/posts/${id}`)).headers.get('etag') ?? '';
    expect(etag).not.toBe('');
    const condition = { headers: { 'if-none-match': etag } };
    expect(await send(test, 'lost_response', '/me', { method: 'HEAD' })).toBeUndefined();
    expect(await send(test, 'lost_response', `/posts/${id}`, condition)).toBeUndefined();
    const deletion = { method: 'DELETE' };
    expect(await send(test, 'lost_response', `/comments/${commentId}`, deletion)).toBeUndefined();
    expect(await send(test, 'lost_response', '/posts/post_none')).toBeUndefined();

    const { hostname, port } = new URL(app().baseUrl);
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
    const request = (fault: string): string =>
      `GET /dev/v1/posts/${id} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${test.token}\r\n${fault}\r\n`;
    socket.write(request('') + request('Test-Fault: lost_response\r\n') + request(''));
    await once(socket, 'close');
    expect(received.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200']);

    await expectNothingLeft();
    const recorded = (await requestsOf(test)).filter(({ status }) => status === 499);
    expect(recorded.map(({ method, errorCode }) => [method, errorCode])).toEqual(
      expect.arrayContaining([
        ['HEAD', null],
        ['GET', null],
        ['DELETE', null],
      ]),
    );
    expect(recorded.length).toBeGreaterThanOrEqual(5);
    expect((await test.delete(`/comments/${commentId}`)).status).toBe(404);
  });

  it('O173 slow uses up neither the time limit of the database nor that of the queue', async () => {
    const started = performance.now();
    const body = JSON.stringify(POST);
    const requests = [
      send(test, 'slow=2500', '/me'),
      send(test, 'slow=2500', '/posts', { method: 'POST', body }),
    ];
    const statuses = (await Promise.all(requests)).map((response) => response?.status);
    expect(statuses).toEqual([200, 201]);
    expect(performance.now() - started).toBeGreaterThanOrEqual(2500);
  });

  it('O173 leaves nothing behind after many waits that clients abandon, with a body that they never send', async () => {
    const { hostname, port } = new URL(app().baseUrl);
    const head = `POST /dev/v1/posts HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${test.token}\r\nContent-Type: application/json\r\nContent-Length: 30000\r\nTest-Fault: slow=9000\r\n\r\n{`;
    const sockets = await Promise.all(
      Array.from({ length: WAITING }, async () => {
        const socket = connect(Number(port), hostname);
        socket.on('error', () => undefined);
        await once(socket, 'connect');
        socket.write(head);
        return socket;
      }),
    );
    await expect.poll(() => requestsInFlight(app()), POLL).toBe(WAITING);
    expect((await real.get('/me')).status).toBe(200);
    expect((await test.get('/me')).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await expectNothingLeft();
  });

  it('O174 runs the same statements for a request of another app and for one that does not exist', async () => {
    const other = await Member.join(app(), { user: test.user, client: await addTestClient() });
    const foreign = (await other.get('/me')).headers.get('x-request-id') ?? '';
    await flushDeferredWrites(app());
    expect((await other.get(`/requests/${foreign}`)).status).toBe(200);
    const invented = foreign.replace(/.{5}$/, 'zzzzz');
    for (const path of ['/requests/', '/requests?before=']) {
      const statementsOf = (id: string) =>
        statementsWithoutBackground(app(), () => test.get(`${path}${id}`));
      expect(await statementsOf(foreign)).toEqual(await statementsOf(invented));
    }
  });

  const addTestClient = () => app().addClient({ test: true });
});

onSqlite('Test-Fault: slow during a shutdown', (database) => {
  it('O173 gets its response before the service stops', async () => {
    const app = await TestApp.start(database);
    const member = await joinTestApp(app);
    const slow = send(member, 'slow=1500', '/me');
    await expect.poll(() => requestsInFlight(app)).toBe(1);
    await sleep(100);
    const stopped = app.stop();
    expect((await slow)?.status).toBe(200);
    await stopped;
  });
});
