import type { EntityTarget, ObjectLiteral } from 'typeorm';
import { AccessTokenVerifier, type Caller } from '../../src/platform/access/caller.js';
import { addMilliseconds } from '../../src/platform/clock.js';
import { sha256 } from '../../src/platform/secrets.js';
import { App } from '../../src/modules/oauth/clients/client.entities.js';
import { AccessToken, Grant, RefreshToken } from '../../src/modules/oauth/tokens/token.entities.js';
import { Parameters } from '../../src/modules/oauth/protocol/parameters.js';
import { RateLimitHit } from '../../src/modules/oauth/rate-limit/rate-limit.entities.js';
import { RateLimitRepository } from '../../src/modules/oauth/rate-limit/rate-limit.repository.js';
import { RefreshTokenGrant } from '../../src/modules/oauth/tokens/refresh-token.grant.js';
import type { IssuedTokens } from '../../src/modules/oauth/tokens/token-issuer.js';
import { CommentsService } from '../../src/modules/comments/comments.service.js';
import { Post } from '../../src/modules/posts/post.entities.js';
import { PostsService } from '../../src/modules/posts/posts.service.js';
import { AppQuota } from '../../src/modules/quota/quota.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import { onEachEngine } from '../support/database.js';
import { analyzeTables, insertMany } from '../support/fixtures.js';
import { skipCounterCheck } from '../support/invariants.js';
import { recordQueries, fullScansOf } from '../support/queries.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

/** The number of rows that `fillTables` adds to each table. */
const OTHER_ROWS = 4000;
/** The maximum number of lookups in one statement. */
const LOOKUPS = 64;
/** The maximum number of requests in one transaction. */
const BATCH = 16;

onEachEngine('Statements that batch requests', (database) => {
  skipCounterCheck(database);
  const app = useTestApp(database);
  let client: TestClient;
  let registered: App;
  const tokens: IssuedTokens[] = [];
  let callers: Caller[] = [];

  function fill<T extends ObjectLiteral>(
    entity: EntityTarget<T>,
    row: (number: number, hash: string) => ObjectLiteral,
  ): Promise<void> {
    return insertMany(app().dataSource, entity, OTHER_ROWS, row);
  }

  /** Adds other apps, and users with grants, tokens and posts, so that a full scan costs more than an index. */
  async function fillTables(): Promise<void> {
    const now = app().clock.now();
    const live = { createdAt: now, expiresAt: addMilliseconds(now, 3_600_000) };
    const { clientId } = client;
    await fill(App, (number) => ({
      clientId: `svc_app_${number}`,
      name: 'Other',
      kind: 'public',
      scope: 'posts.read',
      status: 'enabled',
      createdAt: now,
    }));
    await fill(AppQuota, (number) => ({
      clientId: `svc_app_${number}`,
      plan: 'custom',
      monthlyPostLimit: 9,
    }));
    await fill(User, (number) => ({
      id: `usr_${number}`,
      phone: `+1${number}`,
      name: 'Other',
      status: 'active',
      createdAt: now,
    }));
    await fill(Grant, (number) => ({
      ...live,
      id: `grt_${number}`,
      userId: `usr_${number}`,
      clientId,
      scope: 'posts.read',
      requestedScope: 'posts.read',
    }));
    const token = (number: number, hash: string) => ({ ...live, hash, grantId: `grt_${number}` });
    await fill(AccessToken, (number, hash) => ({ ...token(number, hash), scope: 'posts.read' }));
    await fill(RefreshToken, token);
    await fill(Post, (number) => ({
      id: `post_${number}`,
      userId: `usr_${number}`,
      type: 'general',
      visibility: 'public',
      images: [],
      tags: [],
      createdAt: now,
    }));
    await fill(RateLimitHit, (_, hash) => ({ hash, slot: now, hits: 1 }));
    await analyzeTables(database, app().dataSource);
  }

  beforeAll(async () => {
    client = await app().addClient({ kind: 'public' });
    const { clientId } = client;
    registered = await app().dataSource.manager.findOneByOrFail(App, { clientId });
    for (let number = 0; number < LOOKUPS; number += 1) {
      const { id } = await app().addUser();
      tokens.push(await app().issueTokens({ id }, client));
    }
    await fillTables();
    const verified = await Promise.all(tokens.map(verify));
    callers = verified.map((access) => ({
      ...access,
      requestId: 'one-moment',
      receivedAt: app().clock.now(),
    }));
  });

  function verify({ accessToken }: IssuedTokens): ReturnType<AccessTokenVerifier['verify']> {
    return app().service(AccessTokenVerifier).verify(accessToken);
  }

  /** Expects no full scan in `work`, and returns the number of parameters of each SELECT or UPDATE of the table. */
  async function parameterCountsOf(table: string, work: () => Promise<unknown>): Promise<number[]> {
    const { dataSource } = app();
    const queries = await recordQueries(dataSource, work);
    const planned = queries.filter(({ query }) => /^\s*(?:SELECT|UPDATE)\b/.test(query));
    // The endpoints for events are few, and all are read every five seconds.
    for (const { query, parameters } of planned.filter((one) => !one.query.includes(' endpoint')))
      expect(await fullScansOf(database, dataSource, query, parameters), query).toEqual([]);
    return planned
      .filter(({ query }) => query.split(/\s+/).includes(table))
      .map(({ parameters }) => parameters.length);
  }

  it('find 64 access tokens by key in one statement', async () => {
    const verifyAll = () => Promise.all(tokens.map(verify));
    expect(await parameterCountsOf('access_tokens', verifyAll)).toEqual([LOOKUPS]);
  });

  it('publish posts without a full scan, and find 64 posts by key in one statement', async () => {
    const posts = app().service(PostsService);
    const published: { id: string; userId: string }[] = [];
    const publish = async (caller: Caller): Promise<void> => {
      const { result } = await posts.publish(caller, { content: 'Hi' });
      published.push({ id: result.id, userId: caller.userId });
    };
    const publishBatch = () => Promise.all(callers.slice(0, BATCH).map(publish));
    expect(Math.max(...(await parameterCountsOf('users', publishBatch)))).toBeGreaterThanOrEqual(
      BATCH,
    );
    await Promise.all(callers.slice(BATCH).map(publish));
    const readAll = () => Promise.all(published.map(({ id, userId }) => posts.read(userId, id)));
    // An id and an author for each lookup.
    expect(await parameterCountsOf('posts', readAll)).toEqual([2 * LOOKUPS]);
  });

  it('comment on posts and delete them without a full scan', async () => {
    const posts = app().service(PostsService);
    const draft = { text: 'Hi', parentId: null };
    const published = await Promise.all(
      callers.slice(0, BATCH).map(async (caller) => {
        const { result } = await posts.publish(caller, { content: 'Hi' });
        return { id: result.id, userId: caller.userId };
      }),
    );
    const comment = ({ id, userId }: { id: string; userId: string }) =>
      app()
        .service(CommentsService)
        .add(userId, id, { ...draft, authorId: userId });
    const commentAll = () => Promise.all(published.map(comment));
    // The id of each post, and the pair of its id and its author.
    expect(await parameterCountsOf('posts', commentAll)).toEqual([3 * BATCH]);
    const deleteAll = () =>
      Promise.all(
        published.map(({ id, userId }) => posts.delete({ userId, clientId: 'svc_app_x' }, id)),
      );
    expect(await parameterCountsOf('posts', deleteAll)).toEqual([1 + 3 * BATCH]);
  });

  it('refresh tokens without a full scan', async () => {
    const grant = app().service(RefreshTokenGrant);
    const refresh = ({ refreshToken: refresh_token }: IssuedTokens) =>
      grant.refresh(registered, new Parameters({ refresh_token }));
    for (const [batch, table] of ['refresh_tokens', 'grants'].entries()) {
      const some = tokens.slice(batch * BATCH, (batch + 1) * BATCH);
      const refreshBatch = () => Promise.all(some.map(refresh));
      expect(Math.max(...(await parameterCountsOf(table, refreshBatch)))).toBeGreaterThanOrEqual(
        BATCH,
      );
    }
  });

  it('count the rate limits of a request by key in one statement, each in its own time window', async () => {
    const repository = app().service(RateLimitRepository);
    const now = app().clock.now();
    const windows = [-1000, -1000, 1000, -1000].map((milliseconds, number) => ({
      hash: sha256(`${number}`),
      afterSlot: addMilliseconds(now, milliseconds),
    }));
    const count = async () => {
      const counts = await repository.count(windows);
      expect(windows.map(({ hash }) => counts.get(hash)?.hits ?? 0)).toEqual([1, 1, 0, 1]);
    };
    expect(await parameterCountsOf('throttle_hits', count)).toEqual([2 * windows.length]);
  });
});
