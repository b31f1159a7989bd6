import { setTimeout as sleep } from 'node:timers/promises';
import { IsNull } from 'typeorm';
import { Comment } from '../../../src/modules/comments/comment.entity.js';
import { Grant } from '../../../src/modules/oauth/tokens/token.entities.js';
import { Post } from '../../../src/modules/posts/post.entities.js';
import { onEachServer } from '../../support/database.js';
import { expectedCounts, countPublished } from '../../support/fixtures.js';
import { Member } from '../../support/member.js';
import { obtainTokens, isTokenAccepted } from '../../support/oauth-flow.js';
import type { TokenBody } from '../../support/responses.js';
import { rateLimits, type TestClient, UNLIMITED, useTestApp } from '../../support/test-app.js';
import { IdempotentPublishLoad } from '../idempotency/idempotent-publish-load.js';
import { CodeExchanges } from '../failover/code-exchanges.js';
import { reportFigure } from '../figures.js';
import { byExtent } from '../../suite.js';
import { deadlocksOn, DeadlockStorm, OPPOSITE_LOCKS } from './deadlock-storm.js';
import { MixedLoad } from './mixed-load.js';

const STORM_MS = byExtent({ whole: 10_000, quick: 3000 });
const TEST_TIMEOUT_MS = 120_000;
const STORM_CLIENTS = 8;
const PUBLISHERS = 4;
const CODES = byExtent({ whole: 25, quick: 6 });
/** Four attempts, each short because deadlocks are detected at once, and slack. */
const MAX_RESPONSE_MS = 5000;
/** Time for the requests in flight when the storm ends. */
const SETTLE_MS = 2000;
const OBSERVATION_MS = 1000;
const SETTINGS = {
  DB_TIMEOUT_MS: '1000',
  QUOTA_DEFAULT_LIMIT: '1000000',
  ...rateLimits({ 'grant-refreshes-per-hour': UNLIMITED }),
};

/** A grant and its newest tokens, which `startRefreshing` updates in place. */
interface Chain {
  client: TestClient;
  grantId: string;
  tokens: TokenBody;
}

onEachServer('Database with constant deadlocks', (database) => {
  const app = useTestApp(database, SETTINGS);

  async function chain(): Promise<Chain> {
    const client = await app().addClient();
    const tokens = await obtainTokens(app(), client);
    const { clientId } = client;
    const { id } = await app().dataSource.manager.findOneByOrFail(Grant, { clientId });
    return { client, grantId: id, tokens };
  }

  const deadlocks = (): Promise<number> => deadlocksOn(database.url, database.engine.kind);

  it(
    'executes each acknowledged request once, returns 503 for the rest, and recovers as soon as the deadlocks end',
    { timeout: TEST_TIMEOUT_MS },
    async ({ task }) => {
      const { manager } = app().dataSource;
      const client = await app().addClient();
      // These members publish without an Idempotency-Key.
      const withoutKeys = [
        await Member.join(app(), { client }),
        await Member.join(app(), { client }),
      ];
      // `withKeys` publishes with an Idempotency-Key.
      const [deleter, withKeys, commenter] = [
        await Member.join(app()),
        await Member.join(app()),
        await Member.join(app()),
      ];
      const { id: postId } = await commenter.publish();
      const chains = [await chain(), await chain()];
      const exchanges = await CodeExchanges.prepare(app(), CODES);
      const grantIds = await exchanges.grantIds();

      const load = new MixedLoad();
      for (const member of withoutKeys) load.startPublishing(member);
      for (const { client: holder, tokens } of chains) load.startRefreshing(app(), holder, tokens);
      for (let caller = 0; caller < 2; caller += 1) {
        load.startPublishingAndDeleting(deleter);
        load.startCommenting(commenter, postId);
      }
      const keyedLoad = new IdempotentPublishLoad(withKeys, () => app().baseUrl, PUBLISHERS);

      const earlier = await deadlocks();
      const storm = await DeadlockStorm.begin(database.url, STORM_CLIENTS, [
        ...[...withoutKeys, deleter, withKeys].map(OPPOSITE_LOCKS.publish),
        ...chains.map(({ grantId }) => OPPOSITE_LOCKS.refresh(grantId)),
        OPPOSITE_LOCKS.exchange(grantIds),
        OPPOSITE_LOCKS.deletion(deleter),
        OPPOSITE_LOCKS.comment(postId),
        OPPOSITE_LOCKS.commentDeletion(postId),
      ]);
      const exchanged = exchanges.exchangeAll(STORM_MS / CODES);
      await sleep(STORM_MS);
      await storm.end();
      const allDeadlocks = (await deadlocks()) - earlier;
      const serviceDeadlocks = allDeadlocks - storm.deadlocks;
      expect(serviceDeadlocks).toBeGreaterThan(0);
      expect(storm.deadlocks).toBeGreaterThan(0);

      await sleep(SETTLE_MS);
      const rejections = (): number[] => [load.rejected, keyedLoad.retries];
      const before = {
        rejections: rejections(),
        done: load.total,
        keyedPosts: keyedLoad.posts.size,
      };
      await sleep(OBSERVATION_MS);
      expect(rejections()).toEqual(before.rejections);
      expect(load.total).toBeGreaterThan(before.done);
      expect(keyedLoad.posts.size).toBeGreaterThan(before.keyedPosts);

      await Promise.all([load.stop(), keyedLoad.stopAndCheck(), exchanged]);
      await exchanges.expectTokensStored();
      // The service retries most of the transactions that were rolled back.
      const unavailable = load.rejected + keyedLoad.retries;
      expect(unavailable).toBeLessThan(serviceDeadlocks / 2);
      expect(load.slowest).toBeLessThan(MAX_RESPONSE_MS);
      expect(await countPublished(app(), ...withoutKeys)).toEqual(
        expectedCounts(load.count('publish')),
      );
      const posts = load.count('publish before deletion');
      expect(await countPublished(app(), deleter)).toEqual({
        ...expectedCounts(posts),
        postCount: posts - load.count('deletion'),
      });
      expect(await manager.countBy(Comment, { postId })).toBe(load.count('comment'));
      const comments = load.count('comment') - load.count('comment deletion');
      expect(await manager.countBy(Comment, { postId, deletedAt: IsNull() })).toBe(comments);
      const { commentCount } = await manager.findOneByOrFail(Post, { id: postId });
      expect(commentCount).toBe(comments);
      // `tokens` are those of the last refresh.
      for (const { tokens } of chains)
        expect(await isTokenAccepted(app(), tokens.access_token)).toBe(true);

      const published = load.count('publish') + posts + keyedLoad.posts.size;
      reportFigure(
        task,
        `${database.engine.label}: ${allDeadlocks} deadlocks in ${STORM_MS / 1000} s, ${serviceDeadlocks} of which rolled back a transaction of the service: ${published} posts and ${load.count('comment')} comments, each stored and counted once, ${load.count('refresh')} refreshes, ${CODES} codes, each exchanged once, ${unavailable} × 503, slowest response ${(load.slowest / 1000).toFixed(1)} s`,
      );
    },
  );
});
