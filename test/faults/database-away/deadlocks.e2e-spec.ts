import { setTimeout as sleep } from 'node:timers/promises';
import { IsNull } from 'typeorm';
import { Comment } from '../../../src/modules/comments/comment.entity.js';
import { Grant } from '../../../src/modules/oauth/tokens/token.entities.js';
import { Post } from '../../../src/modules/posts/post.entities.js';
import { onEachServer } from '../../support/database.js';
import { allEqual, countPublished } from '../../support/fixtures.js';
import { Member } from '../../support/member.js';
import { obtainTokens, isTokenAccepted } from '../../support/oauth-flow.js';
import type { TokenBody } from '../../support/responses.js';
import { type TestClient, useTestApp } from '../../support/test-app.js';
import { KeyedLoad } from '../created-once/keyed-load.js';
import { Trades } from '../failover/trades.js';
import { show } from '../figures.js';
import { times } from '../../suite.js';
import { deadlocksOn, DeadlockStorm, OPPOSITES } from './deadlock-storm.js';
import { MixedLoad } from './mixed-load.js';

const STORM_MS = times(10_000, 3000);
const TEST_MS = 120_000;
const FIGHTERS = 8;
const PUBLISHERS = 4;
const CODES = times(25, 6);
/** Deadlocks are detected at once: four attempts, and slack for a slow machine. */
const MAX_RESPONSE_MS = 5000;
/** For calls in flight when the storm ends. */
const LAST_ANSWERS_MS = 2000;
const CALM_MS = 1000;
const SETTINGS = { DB_TIMEOUT_MS: '1000', QUOTA_DEFAULT_LIMIT: '1000000' };

/** A grant and its newest tokens. */
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
    { timeout: TEST_MS },
    async ({ task }) => {
      const { manager } = app().dataSource;
      const client = await app().addClient();
      const plain = [await Member.join(app(), { client }), await Member.join(app(), { client })];
      const [brief, keyed, commenter] = [
        await Member.join(app()),
        await Member.join(app()),
        await Member.join(app()),
      ];
      const { id: postId } = await commenter.publish();
      const chains = [await chain(), await chain()];
      const trades = await Trades.prepare(app(), CODES);
      const traders = await trades.grantIds();

      const load = new MixedLoad();
      for (const member of plain) load.publish(member);
      for (const { client: holder, tokens } of chains) load.refresh(app(), holder, tokens);
      for (let both = 0; both < 2; both += 1) {
        load.publishAndDelete(brief);
        load.comment(commenter, postId);
      }
      const keys = new KeyedLoad(keyed, () => app().baseUrl, PUBLISHERS);

      const earlier = await deadlocks();
      const storm = await DeadlockStorm.begin(database.url, FIGHTERS, [
        ...[...plain, brief, keyed].map(OPPOSITES.publish),
        ...chains.map(({ grantId }) => OPPOSITES.refresh(grantId)),
        OPPOSITES.exchange(traders),
        OPPOSITES.deletion(brief),
        OPPOSITES.comment(postId),
        OPPOSITES.commentDeletion(postId),
      ]);
      const traded = trades.settle(STORM_MS / CODES);
      await sleep(STORM_MS);
      await storm.end();
      const found = (await deadlocks()) - earlier;
      const lost = found - storm.deadlocks;
      expect(lost).toBeGreaterThan(0);
      expect(storm.deadlocks).toBeGreaterThan(0);

      await sleep(LAST_ANSWERS_MS);
      const refusals = (): number[] => [load.rejected, keys.repetitions];
      const before = { refusals: refusals(), done: load.all, keys: keys.posts.size };
      await sleep(CALM_MS);
      expect(refusals()).toEqual(before.refusals);
      expect(load.all).toBeGreaterThan(before.done);
      expect(keys.posts.size).toBeGreaterThan(before.keys);

      await Promise.all([load.stop(), keys.stop(), traded]);
      await trades.expectNoMore();
      // The service retries most of the transactions that were rolled back.
      const unavailable = load.rejected + keys.repetitions;
      expect(unavailable).toBeLessThan(lost / 2);
      expect(load.slowest).toBeLessThan(MAX_RESPONSE_MS);
      expect(await countPublished(app(), ...plain)).toEqual(allEqual(load.count('publish')));
      const posts = load.count('brief publish');
      expect(await countPublished(app(), brief)).toEqual({
        ...allEqual(posts),
        counted: posts - load.count('deletion'),
      });
      expect(await manager.countBy(Comment, { postId })).toBe(load.count('comment'));
      const comments = load.count('comment') - load.count('comment deletion');
      expect(await manager.countBy(Comment, { postId, deletedAt: IsNull() })).toBe(comments);
      const { commentCount } = await manager.findOneByOrFail(Post, { id: postId });
      expect(commentCount).toBe(comments);
      for (const { tokens } of chains)
        expect(await isTokenAccepted(app(), tokens.access_token)).toBe(true);

      const published = load.count('publish') + posts + keys.posts.size;
      show(
        task,
        `${database.engine.label}: ${found} deadlocks in ${STORM_MS / 1000} s, of which the service lost ${lost}: ${published} posts and ${load.count('comment')} comments, each stored and counted once, ${load.count('refresh')} refreshes, ${CODES} codes, each exchanged once, ${unavailable} × 503, the slowest response after ${(load.slowest / 1000).toFixed(1)} s`,
      );
    },
  );
});
