import { once } from 'node:events';
import { TransactionRunner } from '../../src/platform/database/transaction.js';
import { ApiCall } from '../../src/modules/quota/quota.entities.js';
import { CallLog } from '../../src/modules/quota/calls/call-log.service.js';
import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { PostsRepository } from '../../src/modules/posts/posts.repository.js';
import { connect, onEachServer, onOneEngine } from '../support/database.js';
import { expectedCounts, countPublished } from '../support/fixtures.js';
import { beginPublish, Member, type OpenCall } from '../support/member.js';
import { isStatementRunning, TestApp, useTestApp } from '../support/test-app.js';

const BODY = '{"content":"Hi"}';
const KEY = { 'idempotency-key': 'the-key' };
const CONCURRENT_CALLS = 20;

/**
 * Waits for `count` rows of the app and returns them, those that count against the quota first. Most calls are recorded after
 * their response.
 */
async function rowsOf({ app, client }: Member, { count } = { count: 1 }): Promise<ApiCall[]> {
  const { manager } = app.dataSource;
  const where = { clientId: client.clientId };
  await expect
    .poll(async () => {
      await app.service(CallLog).flush();
      return manager.countBy(ApiCall, where);
    })
    .toBe(count);
  return manager.find(ApiCall, { where, order: { metered: 'DESC', id: 'ASC' } });
}

async function disconnect({ clientRequest, serverResponse }: OpenCall): Promise<void> {
  const closed = once(serverResponse, 'close');
  clientRequest.destroy();
  await closed;
}

onOneEngine('Call log', (database) => {
  const app = useTestApp(database);

  it('records a publish before its response, in the transaction of the post and the quota', async () => {
    const member = await Member.join(app());
    const response = await member.post('/posts', { content: 'Hi' });
    const { clientId } = member.client;
    const rows = await app().dataSource.manager.findBy(ApiCall, { clientId });
    expect(rows).toMatchObject([
      {
        id: expect.stringMatching(/^call_/),
        at: app().clock.now(),
        userId: member.user.id,
        route: 'POST /dev/v1/posts',
        status: 201,
        durationMs: 0,
        requestId: response.headers.get('x-request-id'),
      },
    ]);
  });

  it('records each call with route pattern, status and request id', async () => {
    const member = await Member.join(app());
    const post = await member.publish();
    const comment = await member.comment(post.id);
    const expected: [string, number, string | null][] = [
      ['POST /dev/v1/posts', 201, null],
      ['POST /dev/v1/posts/:id/comments', 201, null],
    ];
    const calls = [
      ['GET', '/me', '/me', 200],
      ['HEAD', '/me', '/me', 200],
      ['GET', '/posts?page=1', '/posts', 200],
      ['GET', '/posts?page=0', '/posts', 400],
      ['GET', `/posts/${post.id}`, '/posts/:id', 200],
      ['GET', '/posts/x', '/posts/:id', 404],
      ['GET', `/posts/${post.id}/analytics`, '/posts/:id/analytics', 200],
      ['GET', `/posts/${post.id}/comments`, '/posts/:id/comments', 200],
      ['DELETE', `/comments/${comment.id}`, '/comments/:id', 200],
      ['DELETE', `/comments/${comment.id}`, '/comments/:id', 404],
      ['POST', '/posts', '/posts', 415],
      ['DELETE', `/posts/${post.id}`, '/posts/:id', 200],
    ] as const;
    for (const [method, path, pattern, status] of calls) {
      const response = await app().call(member.token, method, path);
      expect(response.status).toBe(status);
      expected.push([`${method} /dev/v1${pattern}`, status, response.headers.get('x-request-id')]);
    }
    const rows = await rowsOf(member, { count: expected.length });
    const recorded = rows.map(({ route, status, requestId }) => [route, status, requestId]);
    for (const [route, status, requestId] of expected)
      expect(recorded).toContainEqual([route, status, requestId ?? expect.any(String)]);
  });

  it('records calls whose token lacks the required scope, because the app is known', async () => {
    const member = await Member.join(app(), { scopes: ['posts.read'] });
    await member.get('/me');
    expect(await rowsOf(member, { count: 1 })).toMatchObject([
      { route: 'GET /dev/v1/me', status: 403, durationMs: 0, at: app().clock.now() },
    ]);
  });

  it('records neither unauthenticated calls nor requests that match no API route', async () => {
    const before = await app().dataSource.manager.count(ApiCall);
    await app().fetch('/dev/v1/me');
    await app().fetch('/dev/v1/me', { headers: { authorization: 'Bearer x' } });
    const member = await Member.join(app());
    await member.get('/nope');
    await app().fetch('/livez');
    await member.get('/me');
    await rowsOf(member, { count: 1 });
    expect(await app().dataSource.manager.count(ApiCall)).toBe(before + 1);
  });

  it('records each of many concurrent calls', async () => {
    const member = await Member.join(app());
    await Promise.all(Array.from({ length: CONCURRENT_CALLS }, () => member.get('/me')));
    const rows = await rowsOf(member, { count: CONCURRENT_CALLS });
    expect(new Set(rows.map(({ requestId }) => requestId)).size).toBe(CONCURRENT_CALLS);
  });

  it.each(['api_calls', 'quota_usage'])(
    'rolls back the publish when %s cannot be written',
    async (table) => {
      const member = await Member.join(app());
      await member.publish();
      const { dataSource } = app();
      await dataSource.query(`ALTER TABLE ${table} RENAME TO ${table}_away`);
      const response = await member
        .post('/posts', { content: 'Hi' })
        .finally(() => dataSource.query(`ALTER TABLE ${table}_away RENAME TO ${table}`));
      expect(response.status).toBe(500);
      expect(await response.text()).not.toContain(table);
      expect(await countPublished(app(), member)).toEqual(expectedCounts(1));
    },
  );

  it('writes call records later if they cannot be written at first', async () => {
    const member = await Member.join(app());
    await app().dataSource.query('ALTER TABLE api_calls RENAME TO api_calls_away');
    await member.get('/me');
    await app().service(CallLog).flush();
    await member.get('/posts');
    await app().service(CallLog).flush();
    await app().dataSource.query('ALTER TABLE api_calls_away RENAME TO api_calls');
    const rows = await rowsOf(member, { count: 2 });
    expect(rows.map(({ route }) => route).toSorted()).toEqual([
      'GET /dev/v1/me',
      'GET /dev/v1/posts',
    ]);
  });

  /** Disconnects the client while another transaction locks the user's row and so delays the publish. */
  async function disconnectDuringPublish({ user, client }: Member, open: OpenCall): Promise<void> {
    const blocking = app()
      .service(TransactionRunner)
      .run(async (tx) => {
        await app().service(PostsRepository).incrementPostCountsOfActive(tx, [user.id]);
        open.clientRequest.end(BODY.slice(1));
        await expect.poll(() => open.serverRequest.context.caller?.clientId).toBe(client.clientId);
        await disconnect(open);
        throw new Error('rolled back');
      });
    await expect(blocking).rejects.toThrow('rolled back');
  }

  it('C23 records a publish once when the client disconnects before the response', async () => {
    const member = await Member.join(app());
    await disconnectDuringPublish(member, await beginPublish(member, BODY));
    expect(await rowsOf(member)).toMatchObject([{ route: 'POST /dev/v1/posts', status: 201 }]);
    expect(await countPublished(app(), member)).toEqual(expectedCounts(1));
  });

  it('C23 records a rejected publish with status 499 when the client disconnects before the response', async () => {
    const member = await Member.join(app());
    const { clientId } = member.client;
    await app().service(QuotaService).set(clientId, { limit: 0 }, { actor: 'test' });
    await disconnectDuringPublish(member, await beginPublish(member, BODY));
    expect(await rowsOf(member)).toMatchObject([{ route: 'POST /dev/v1/posts', status: 499 }]);
    expect(await countPublished(app(), member)).toEqual(expectedCounts(0));
  });

  it('contains all calls after a shutdown, including the one in flight', async () => {
    const stoppingApp = await TestApp.start(database);
    const member = await Member.join(stoppingApp, {
      user: await app().addUser(),
      client: await app().addClient(),
    });
    await (await member.get('/me')).text();
    const body = '{"content":1}';
    const { clientRequest, serverResponse } = await beginPublish(member, body);
    const stopped = stoppingApp.stop();
    await expect.poll(() => stoppingApp.nest.getHttpServer().listening).toBe(false);
    clientRequest.end(body.slice(1));
    await once(serverResponse, 'close');
    await stopped;
    const dataSource = await connect(database.url);
    const rows = await dataSource.manager.findBy(ApiCall, { clientId: member.client.clientId });
    await dataSource.destroy();
    expect(rows.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  });
});

onEachServer(
  'Call log, when the client disconnects during the lookup of its idempotency key',
  (database) => {
    const app = useTestApp(database);

    async function disconnectDuringLookup(member: Member): Promise<void> {
      const open = await beginPublish(member, BODY, KEY);
      const blocking = app().dataSource.createQueryRunner();
      await blocking.query('LOCK TABLES idempotency_keys WRITE');
      try {
        open.clientRequest.end(BODY.slice(1));
        await expect.poll(() => isStatementRunning(app(), 'SELECT hash, request_hash')).toBe(true);
        await disconnect(open);
      } finally {
        await blocking.query('UNLOCK TABLES');
        await blocking.release();
      }
    }

    it('C23 records the publish once', async () => {
      const member = await Member.join(app());
      await disconnectDuringLookup(member);
      expect(await rowsOf(member)).toMatchObject([{ status: 201, metered: true }]);
      expect(await countPublished(app(), member)).toEqual(expectedCounts(1));
    });

    it('records a replay with status 499 and charges no quota', async () => {
      const member = await Member.join(app());
      const headers = { ...KEY, 'content-type': 'application/json' };
      expect((await member.postRaw('/posts', BODY, headers)).status).toBe(201);
      await disconnectDuringLookup(member);
      expect(await rowsOf(member, { count: 2 })).toMatchObject([
        { status: 201, metered: true },
        { status: 499, metered: false },
      ]);
      expect(await countPublished(app(), member)).toEqual(expectedCounts(1));
    });
  },
);
