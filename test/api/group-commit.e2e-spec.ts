import { AsyncResource } from 'node:async_hooks';
import { AccessTokenVerifier, type Caller } from '../../src/platform/access/caller.js';
import { InvalidToken } from '../../src/platform/access/access.errors.js';
import { duringRequest } from '../../src/platform/request-context.js';
import { writeRows } from '../../src/platform/database/sql.js';
import { TransactionRunner } from '../../src/platform/database/transaction.js';
import { CommentsService } from '../../src/modules/comments/comments.service.js';
import { PostNotFound, PostsService } from '../../src/modules/posts/posts.service.js';
import { QuotaExceeded, QuotaService } from '../../src/modules/quota/quota.service.js';
import { UsersService } from '../../src/modules/users/users.service.js';
import { onOneEngine, onEachServer } from '../support/database.js';
import { expectedCounts, countPublished } from '../support/fixtures.js';
import { differentFrom } from '../support/invariants.js';
import { footprintOf, Member } from '../support/member.js';
import { type TestApp, useTestApp } from '../support/test-app.js';

const MEMBERS = 8;
const OPERATOR = { actor: 'test' };

async function membersOfOneApp(app: TestApp): Promise<[Member, ...Member[]]> {
  const first = await Member.join(app);
  const { client } = first;
  const join = () => Member.join(app, { client });
  return [first, ...(await Promise.all(Array.from({ length: MEMBERS - 1 }, join)))];
}

async function callerOf({ app, token }: Member): Promise<Caller> {
  const access = await app.service(AccessTokenVerifier).verify(token);
  return { ...access, requestId: 'concurrent', receivedAt: app.clock.now() };
}

/** Starts one publish for each caller, all in the same turn of the event loop. */
function publishAll(app: TestApp, callers: readonly Caller[]): Promise<unknown>[] {
  const draft = { content: 'Hi', latitude: 1, longitude: 2 };
  const posts = app.service(PostsService);
  return callers.map((caller) => posts.publish(caller, draft));
}

onOneEngine('Batching of concurrent calls', (database) => {
  const app = useTestApp(database);

  it('verifies each token by its own row, also in a batch with unknown tokens', async () => {
    const known = await Member.join(app());
    const verifier = app().service(AccessTokenVerifier);
    const unknown = differentFrom(known.token);
    const verified = await Promise.allSettled(
      [unknown, known.token, unknown].map((token) => verifier.verify(token)),
    );
    expect(verified.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
  });

  it('publishes all posts in one transaction and counts each', async () => {
    const members = await membersOfOneApp(app());
    const callers = await Promise.all(members.map(callerOf));
    const statements = await app().statementsOf(async () => {
      const outcomes = await Promise.allSettled(publishAll(app(), callers));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(MEMBERS);
    });
    expect(statements.filter((statement) => statement === 'COMMIT')).toHaveLength(1);
    expect(await countPublished(app(), ...members)).toEqual(expectedCounts(MEMBERS));
  });

  it('publishes the other posts when one is rejected', async () => {
    const members = await membersOfOneApp(app());
    const callers = await Promise.all(members.map(callerOf));
    await app().service(UsersService).changeStatus(members[0].user.id, 'blocked', OPERATOR);
    const outcomes = await Promise.allSettled(publishAll(app(), callers));
    expect(outcomes[0]).toMatchObject({ reason: expect.any(InvalidToken) as unknown });
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(MEMBERS - 1);
    expect(await countPublished(app(), ...members)).toEqual(expectedCounts(MEMBERS - 1));
  });

  it('publishes exactly up to the quota when a batch exceeds it', async () => {
    const members = await membersOfOneApp(app());
    const { clientId } = members[0].client;
    await app().service(QuotaService).set(clientId, { limit: 5 }, OPERATOR);
    const outcomes = await Promise.allSettled(
      publishAll(app(), await Promise.all(members.map(callerOf))),
    );
    const rejected = outcomes.filter(({ status }) => status === 'rejected');
    expect(rejected).toEqual(
      Array.from({ length: MEMBERS - 5 }, () => ({
        status: 'rejected',
        reason: expect.any(QuotaExceeded) as unknown,
      })),
    );
    expect(await countPublished(app(), ...members)).toEqual(expectedCounts(5));
  });

  it('commits a post under another quota limit, and a second post of one user, in separate transactions', async () => {
    const [one, two, three] = await Promise.all((await membersOfOneApp(app())).map(callerOf));
    const callers = [one, two, { ...three, postLimit: 50 }, one] as Caller[];
    const statements = await app().statementsOf(() =>
      Promise.allSettled(publishAll(app(), callers)),
    );
    expect(statements.filter((statement) => statement === 'COMMIT')).toHaveLength(3);
  });

  it('counts the posts of two apps against their own quotas', async () => {
    const members = await Promise.all([Member.join(app()), Member.join(app())]);
    await Promise.all(publishAll(app(), await Promise.all(members.map(callerOf))));
    for (const member of members)
      expect(await countPublished(app(), member)).toEqual(expectedCounts(1));
  });

  it("returns a post only to its author when two users' reads share a batch", async () => {
    const [owner, other] = await membersOfOneApp(app());
    const { id } = await owner.publish();
    const posts = app().service(PostsService);
    const read = await Promise.allSettled(
      [owner, other as Member].map(({ user }) => posts.read(user.id, id)),
    );
    expect(read).toMatchObject([
      { value: { id } },
      { reason: expect.any(PostNotFound) as unknown },
    ]);
  });

  describe('comments and deletions', () => {
    /** Members of one app, each with a post. */
    async function authors(): Promise<{ members: [Member, ...Member[]]; ids: string[] }> {
      const members = await membersOfOneApp(app());
      const posts = await Promise.all(members.map((member) => member.publish()));
      return { members, ids: posts.map(({ id }) => id) };
    }

    const draft = { text: 'Hi', parentId: null };
    const actions = {
      'adds comments': (members: readonly Member[], ids: readonly string[]) =>
        members.map(({ user }, index) => {
          const id = ids[index] ?? '';
          return app()
            .service(CommentsService)
            .add(user.id, id, { ...draft, authorId: user.id });
        }),
      'deletes posts': (members: readonly Member[], ids: readonly string[]) =>
        members.map(({ user }, index) =>
          app()
            .service(PostsService)
            .delete({ userId: user.id, clientId: 'svc_app_x' }, ids[index] ?? ''),
        ),
    };
    const countsAfter = {
      'adds comments': { posts: 1, comments: 1, postCount: 1, commentCount: 1, quotaUsed: MEMBERS },
      'deletes posts': { posts: 1, comments: 0, postCount: 0, commentCount: 0, quotaUsed: MEMBERS },
    };
    const untouched = { posts: 1, comments: 0, postCount: 1, commentCount: 0, quotaUsed: MEMBERS };

    describe.each(Object.keys(actions) as (keyof typeof actions)[])('%s', (name) => {
      const act = actions[name];

      it('of different users in one transaction, and counts each', async () => {
        const { members, ids } = await authors();
        const statements = await app().statementsOf(() => Promise.all(act(members, ids)));
        expect(statements.filter((statement) => statement === 'COMMIT')).toHaveLength(1);
        for (const member of members) expect(await footprintOf(member)).toEqual(countsAfter[name]);
      });

      it("but not on another user's post, although its author is in the same batch", async () => {
        const { members, ids } = await authors();
        const [first, ...others] = members;
        const [, foreign = '', ...rest] = ids;
        // The second user acts on the own post, too.
        const outcomes = await Promise.allSettled([
          ...act([first], [foreign]),
          ...act(others, [foreign, ...rest]),
        ]);
        expect(outcomes[0]).toMatchObject({ reason: expect.any(PostNotFound) as unknown });
        expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1);
        expect(await footprintOf(first)).toEqual(untouched);
        for (const other of others) expect(await footprintOf(other)).toEqual(countsAfter[name]);
      });
    });

    it('adds all of several comments on one post, and deletes a post once', async () => {
      const { members, ids } = await authors();
      const twice = [ids[0] ?? '', ids[0] ?? ''];
      const same = [members[0], members[0]];
      await Promise.all(actions['adds comments'](same, twice));
      expect(await footprintOf(members[0])).toMatchObject({ comments: 2, commentCount: 2 });
      const deletions = await Promise.allSettled(actions['deletes posts'](same, twice));
      expect(deletions.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      expect(await footprintOf(members[0])).toMatchObject({ postCount: 0 });
    });
  });
});

onEachServer('Batch of publishes, one of which waits for a locked row', (database) => {
  const app = useTestApp(database, { DB_TIMEOUT_MS: '1000' });

  it('publishes the others at once, and the waiting one after the unlock', async () => {
    const members = await membersOfOneApp(app());
    const callers = await Promise.all(members.map(callerOf));
    const { id } = members[0].user;
    // Work that starts in the asynchronous context of a transaction would join it.
    const outside = new AsyncResource('outside');
    let waiting: Promise<PromiseSettledResult<unknown>[]> | undefined;
    await app()
      .service(TransactionRunner)
      .run(async (tx) => {
        await writeRows(tx, 'UPDATE users SET name = name WHERE id = ?', [id]);
        let publishes: Promise<unknown>[] = [];
        const context = {
          requestId: 'req_1',
          receivedAt: new Date(),
          address: null,
          violations: [],
        };
        outside.runInAsyncScope(() =>
          duringRequest(context, () => (publishes = publishAll(app(), callers))),
        );
        waiting = Promise.allSettled(publishes.slice(0, 1));
        await Promise.all(publishes.slice(1));
      });
    expect(await waiting).toMatchObject([{ status: 'fulfilled' }]);
    expect(await countPublished(app(), ...members)).toEqual(expectedCounts(MEMBERS));
  });
});
