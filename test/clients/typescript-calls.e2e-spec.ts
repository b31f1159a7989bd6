import {
  ApiError,
  createClient,
  memoryStore,
  NoResponseError,
  startAuthorization,
} from '../../clients/typescript/src/index.js';
import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { onOneEngine } from '../support/database.js';
import { countPublished, expectedCounts } from '../support/fixtures.js';
import { rateLimits, useTestApp } from '../support/test-app.js';
import { connectPartner, expire } from './partner.js';
import { unavailable } from './unreliable-network.js';

const POSTS = /^POST .*\/posts$/;

async function idsOf(list: AsyncIterable<{ id: string }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of list) ids.push(id);
  return ids;
}

onOneEngine('Calls with the TypeScript client', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100' });

  it('C144 calls every kind of operation with typed parameters and results', async () => {
    const { client } = await connectPartner(app());
    const created = await client.createPost({ body: { content: 'Plums', tags: ['fruit'] } });
    const { id } = created;
    expect(created.tags).toEqual(['fruit']);
    expect(await client.getPost({ id })).toMatchObject({ id, content: 'Plums', reachKm: null });
    const comment = await client.createComment({ id, body: { text: 'Yes, please' } });
    expect(comment.author.name).toBe('Ana Lee');
    expect(await client.getPostAnalytics({ id })).toMatchObject({ likes: 0, comments: 1 });
    expect((await client.listComments({ id })).data.map(({ text }) => text)).toEqual([
      'Yes, please',
    ]);
    expect(await client.deleteComment({ id: comment.id })).toMatchObject({ deleted: true });
    expect(await client.deletePost({ id })).toMatchObject({ id, deleted: true });
    expect((await client.getQuota()).used).toBe(1);
  });

  it('rejects invalid calls at compile time', async () => {
    const { client } = await connectPartner(app());
    const rejected = await Promise.allSettled([
      // @ts-expect-error The visibility does not exist.
      client.createPost({ body: { content: 'Here', visibility: 'friends' } }),
      // @ts-expect-error A limit is a number.
      client.listPosts({ limit: 'all' }),
      // @ts-expect-error The body is missing.
      client.createPost({}),
    ]);
    expect(rejected.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    // @ts-expect-error The id is missing.
    await expect(client.getPost({})).rejects.toThrow('id must be an id.');
    // @ts-expect-error The operation does not exist.
    expect(client.listDrafts).toBeUndefined();
  });

  it.each(['', '.', '..'])(
    'sends no request for the id "%s", which would be another path',
    async (id) => {
      const { client, network } = await connectPartner(app());
      await expect(client.deletePost({ id })).rejects.toThrow(TypeError);
      await expect(client.deletePost({ id: '../me?x' })).rejects.toMatchObject({ status: 404 });
      expect(network.requests).toEqual(['DELETE /dev/v1/posts/..%2Fme%3Fx']);
    },
  );

  it('throws TypeError for an invalid issuer or idempotency key, and sends no request', async () => {
    const { client, network, settings, store } = await connectPartner(app());
    for (const issuer of ['dev.example.com', 'localhost:3000']) {
      const wrong = { ...settings, issuer };
      await expect(createClient(wrong, store).getMe()).rejects.toThrow(TypeError);
      await expect(startAuthorization(wrong, { scope: 'profile.read' })).rejects.toThrow(TypeError);
    }
    const body = { content: 'Plums' };
    await expect(client.createPost({ body }, { idempotencyKey: 'a\nb' })).rejects.toThrow(
      TypeError,
    );
    expect(network.requests).toEqual([]);
  });

  describe('Lists', () => {
    it('iterates over all pages, each item once, while items are added', async () => {
      const { client, network } = await connectPartner(app());
      const publish = (content: string) => {
        app().clock.advance(1000);
        return client.createPost({ body: { content } });
      };
      const ids: string[] = [];
      for (let i = 0; i < 7; i += 1) ids.unshift((await publish(`Post ${i}`)).id);
      const seen: string[] = [];
      for await (const { id } of client.listPosts({ limit: 2 })) {
        if (seen.length === 3) await publish('Published meanwhile');
        seen.push(id);
      }
      expect(seen).toEqual(ids);
      expect(network.count(/^GET \/dev\/v1\/posts\?/)).toBe(4);
      const { data, meta } = await client.listPosts({ limit: 2, page: 2 });
      expect([data.length, meta.page, meta.total]).toEqual([2, 2, 8]);
    });

    it('stops when the loop stops, and has no items for an empty list', async () => {
      const { client, network } = await connectPartner(app());
      expect(await idsOf(client.listPosts())).toEqual([]);
      const { id } = await client.createPost({ body: { content: 'Plums' } });
      for (const text of ['One', 'Two', 'Three']) {
        app().clock.advance(1000);
        await client.createComment({ id, body: { text } });
      }
      for await (const { text } of client.listComments({ id, limit: 1 })) if (text === 'Two') break;
      expect(network.count(/comments\?/)).toBe(2);
    });

    it('reports an error to the loop', async () => {
      const { client } = await connectPartner(app());
      const list = client.listPosts({ limit: 51 });
      await expect(idsOf(list)).rejects.toMatchObject({ code: 'invalid_request' });
    });

    it.each([
      ['ends at', 'without a query', 'https://dev.example.com/dev/v1/posts', []],
      ['keeps its host for', 'to another host', 'https://evil.example/x?page=2', ['?page=2']],
    ])('%s a next link %s', async (_, _kind, url, followed) => {
      const { client, network } = await connectPartner(app());
      const page = { data: [], meta: { page: 1, limit: 1, total: 0 } };
      const headers = { link: `<${url}>; rel="next"` };
      network.fail(/^GET/, Response.json(page, { headers }));
      expect(await idsOf(client.listPosts())).toEqual([]);
      expect(network.requests).toEqual(
        ['', ...followed].map((query) => `GET /dev/v1/posts${query}`),
      );
    });
  });

  describe('Errors', () => {
    it('have the code, the fields and the request id', async () => {
      const { client } = await connectPartner(app());
      const body = { content: 'x'.repeat(10_001), tags: [' '] };
      const error: unknown = await client.createPost({ body }).catch((e) => e);
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({
        name: 'ApiError',
        code: 'invalid_request',
        status: 400,
        requestId: expect.stringMatching(/^req_/),
        docUrl: expect.stringMatching(/\/docs\/errors#invalid_request$/),
      });
      expect((error as ApiError).errors.map(({ field, code }) => [field, code])).toEqual([
        ['content', 'too_long'],
        ['tags', 'blank'],
      ]);
    });

    it('name the scope that is missing', async () => {
      const { registered, user, settings } = await connectPartner(app());
      const issued = await app().issueTokens(user, registered, ['profile.read']);
      const tokens = { ...issued, scopes: ['profile.read'], expiresAt: Date.now() + 60_000 };
      await expect(createClient(settings, memoryStore(tokens)).listPosts()).rejects.toMatchObject({
        code: 'insufficient_scope',
        requiredScope: 'posts.read',
      });
    });

    it('of a monthly quota are not retried, and have the time until the next month', async () => {
      const { client, network, registered } = await connectPartner(app());
      await app().service(QuotaService).set(registered.clientId, { limit: 1 }, { actor: 'test' });
      await client.createPost({ body: { content: 'The only one' } });
      await expect(client.createPost({ body: { content: 'Too much' } })).rejects.toMatchObject({
        code: 'quota_exceeded',
        status: 429,
        retryAfter: expect.any(Number),
      });
      expect(network.count(POSTS)).toBe(2);
    });
  });

  describe('Retries', () => {
    it('publish once when responses are lost', async () => {
      const { client, network, registered, user } = await connectPartner(app());
      network.fail(POSTS, 'response lost', 'request lost', unavailable());
      const { id } = await client.createPost({ body: { content: 'Once' } });
      expect((await client.listPosts()).data.map((post) => post.id)).toEqual([id]);
      expect(network.count(POSTS)).toBe(4);
      expect(new Set(network.keys).size).toBe(1);
      expect(await countPublished(app(), { user, client: registered })).toEqual(expectedCounts(1));
      await client.createPost({ body: { content: 'Another' } });
      expect(new Set(network.keys).size).toBe(2);
    });

    it('publish once when the app calls again with its own key', async () => {
      const { client, network, registered, user } = await connectPartner(app(), { maxRetries: 0 });
      const publish = () =>
        client.createPost({ body: { content: 'Draft' } }, { idempotencyKey: 'draft-1' });
      network.fail(POSTS, 'response lost');
      await expect(publish()).rejects.toThrow(NoResponseError);
      await publish();
      expect(await countPublished(app(), { user, client: registered })).toEqual(expectedCounts(1));
    });

    it('wait for Retry-After, in seconds or as a date, and ignore any other', async () => {
      const { client, network, settings, store } = await connectPartner(app(), {
        maxRetryWaitMs: 1000,
      });
      network.fail(/me$/, unavailable('1'));
      const start = performance.now();
      await client.getMe();
      expect(performance.now() - start).toBeGreaterThanOrEqual(990);
      network.fail(/me$/, unavailable(new Date(Date.now() + 3_600_000).toUTCString()));
      const error: unknown = await client.getMe().catch((e) => e);
      expect((error as ApiError).retryAfter).toBeGreaterThan(3500);
      const single = createClient({ ...settings, maxRetries: 0 }, store);
      network.fail(/me$/, unavailable('1.5'));
      await expect(single.getMe()).rejects.toMatchObject({ status: 503, retryAfter: undefined });
    });

    it.each([408, 500, 502, 503, 504, 507])('follow a %i', async (status) => {
      const { client, network } = await connectPartner(app());
      network.fail(POSTS, unavailable('0', status));
      await client.createPost({ body: { content: 'Plums' } });
      expect(network.count(POSTS)).toBe(2);
      expect(new Set(network.keys).size).toBe(1);
    });

    it('are at most maxRetries, and only for errors that pass', async () => {
      const { client, network } = await connectPartner(app(), { maxRetries: 2 });
      network.fail(/me$/, ...Array.from({ length: 3 }, () => 'request lost' as const));
      await expect(client.getMe()).rejects.toThrow(NoResponseError);
      expect(network.count(/me$/)).toBe(3);
      // A proxy may have another kind of errors.
      network.fail(/quota$/, Response.json({ errors: { token: 'denied' } }, { status: 403 }));
      await expect(client.getQuota()).rejects.toMatchObject({
        code: 'unknown_error',
        status: 403,
        errors: [],
      });
      expect(network.count(/quota$/)).toBe(1);
    });

    it('follow a timeout of each attempt, and report it, unless it is infinite', async () => {
      const { client, network } = await connectPartner(app(), { maxRetries: 1 });
      network.slow(200);
      await expect(client.getMe({}, { timeoutMs: 50 })).rejects.toThrow(
        'GET /dev/v1/me got no response within 50 ms.',
      );
      expect(network.count(/me$/)).toBe(2);
      expect(await client.getMe({}, { timeoutMs: Infinity })).toHaveProperty('name');
    });

    it('wait for as long as the longest timer if maxRetryWaitMs is infinite', async () => {
      const { client, network } = await connectPartner(app(), { maxRetryWaitMs: Infinity });
      network.fail(/me$/, unavailable('3000000'));
      const signal = AbortSignal.timeout(100);
      await expect(client.getMe({}, { signal })).rejects.toThrow('timeout');
      expect(network.count(/me$/)).toBe(1);
    });

    it('end when the call is aborted', async () => {
      const { client, network } = await connectPartner(app());
      const controller = new AbortController();
      network.fail(/me$/, unavailable('61'));
      setTimeout(() => controller.abort(new Error('The user left.')), 50);
      const start = performance.now();
      await expect(client.getMe({}, { signal: controller.signal })).rejects.toThrow(
        'The user left.',
      );
      expect(performance.now() - start).toBeLessThan(5000);
      await expect(client.getMe({}, { signal: AbortSignal.abort() })).rejects.toThrow();
      expect(network.count(/me$/)).toBe(1);
    });
  });

  it('reports every response, with headers such as RateLimit', async () => {
    const responses: [number, string | null][] = [];
    const { client } = await connectPartner(app(), {
      onResponse: ({ status, headers }) => responses.push([status, headers.get('ratelimit')]),
    });
    await client.createPost({ body: { content: 'Hi' } });
    expect(responses).toEqual([[201, expect.stringContaining('"posts-month";r=99')]]);
  });
});

onOneEngine('Rate limit with the TypeScript client', (database) => {
  const app = useTestApp(database, rateLimits({ 'grant-writes-per-minute': 2 }));

  it('waits for Retry-After, unless it is longer than the app accepts', async () => {
    const { settings, store, network } = await connectPartner(app());
    const waiting = createClient(
      {
        ...settings,
        onResponse: ({ status }) => {
          if (status === 429) app().clock.advance(2000);
        },
      },
      store,
    );
    const impatient = createClient({ ...settings, maxRetryWaitMs: 100 }, store);
    const { id } = await waiting.createPost({ body: { content: 'Hi' } });
    const comment = { id, body: { text: 'Hello' } };
    await waiting.createComment(comment);
    await waiting.createComment(comment);
    app().clock.advance(58_000);
    await expect(impatient.createComment(comment)).rejects.toMatchObject({
      code: 'too_many_requests',
      status: 429,
      retryAfter: 2,
    });
    expect(network.count(/comments$/)).toBe(3);
    await waiting.createComment(comment);
    expect(network.count(/comments$/)).toBe(5);
  });

  const failure = new Error('The log is full.');

  it.each([
    {
      kind: 'an error',
      onResponse: () => {
        throw failure;
      },
    },
    { kind: 'a rejected promise', onResponse: () => Promise.reject(failure) },
  ])('logs $kind of onResponse, and returns the response', async ({ onResponse }) => {
    const { client, network, store } = await connectPartner(app(), { onResponse });
    const log = vi.spyOn(console, 'error').mockReturnValue();
    onTestFinished(() => log.mockRestore());
    await expire(store);
    const before = await store.get();
    expect(await client.createPost({ body: { content: 'Plums' } })).toHaveProperty('id');
    expect((await store.get())?.refreshToken).not.toBe(before?.refreshToken);
    expect(network.requests).toEqual(['POST /oauth/token', 'POST /dev/v1/posts']);
    expect(log.mock.calls).toEqual([[failure], [failure]]);
  });
});
