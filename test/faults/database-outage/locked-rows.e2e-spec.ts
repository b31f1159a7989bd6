import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { Comment } from '../../../src/modules/comments/comment.entity.js';
import { onEachServer } from '../../support/database.js';
import { expectedCounts, countPublished } from '../../support/fixtures.js';
import { Member } from '../../support/member.js';
import { obtainTokens, isTokenAccepted } from '../../support/oauth-flow.js';
import { rateLimits, UNLIMITED, useTestApp } from '../../support/test-app.js';
import { IdempotentPublishLoad } from '../idempotency/idempotent-publish-load.js';
import { reportFigure } from '../figures.js';
import { byExtent } from '../../suite.js';
import { MixedLoad } from './mixed-load.js';

const HOLD_MS = byExtent({ whole: 6000, quick: 3000 });
const TEST_TIMEOUT_MS = 120_000;
/** Timeout of the group commit, timeout of the retry, and slack. */
const MAX_RESPONSE_MS = 4000;
const MAX_RECOVERY_MS = 5000;
const PUBLISHERS = 2;
const SETTINGS = {
  DB_TIMEOUT_MS: '1000',
  QUOTA_DEFAULT_LIMIT: '1000000',
  ...rateLimits({ 'grant-refreshes-per-hour': UNLIMITED }),
};

onEachServer('Database client that holds row locks for longer than the timeout', (database) => {
  const app = useTestApp(database, SETTINGS);

  it(
    'causes 503 for requests that need the rows, and does not affect others',
    { timeout: TEST_TIMEOUT_MS },
    async ({ task }) => {
      // The first two publish without and with an Idempotency-Key.
      const [withoutKeys, withKeys, commenter, bystander] = [
        await Member.join(app()),
        await Member.join(app()),
        await Member.join(app()),
        await Member.join(app()),
      ];
      await withoutKeys.publish();
      const { id: postId } = await commenter.publish();
      const client = await app().addClient();
      const tokens = await obtainTokens(app(), client);

      const load = new MixedLoad();
      const unaffected = new MixedLoad();
      unaffected.startPublishing(bystander);
      const holder = await mysql.createConnection(database.url);
      let keyedLoad: IdempotentPublishLoad | undefined;
      let rejectedWhileLocked = 0;
      try {
        // Like the service: row locks without gap locks.
        await holder.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
        await holder.beginTransaction();
        const locks = [
          [
            'SELECT used FROM quota_usage WHERE client_id = ? FOR UPDATE',
            withoutKeys.client.clientId,
          ],
          ['SELECT id FROM users WHERE id = ? FOR UPDATE', withKeys.user.id],
          ['SELECT id FROM posts WHERE id = ? FOR UPDATE', postId],
          ['SELECT id FROM grants WHERE client_id = ? FOR UPDATE', client.clientId],
        ] as const;
        for (const [statement, id] of locks) await holder.query(statement, [id]);
        load.startPublishing(withoutKeys);
        load.startCommenting(commenter, postId);
        load.startRefreshing(app(), client, tokens);
        keyedLoad = new IdempotentPublishLoad(withKeys, () => app().baseUrl, PUBLISHERS);
        await sleep(HOLD_MS);
        expect(load.total).toBe(0);
        expect(keyedLoad.posts.size).toBe(0);
        rejectedWhileLocked = load.rejected + keyedLoad.retries;
        expect(load.rejected).toBeGreaterThanOrEqual(3);
      } finally {
        holder.destroy();
      }
      const releasedAt = performance.now();
      for (const name of ['publish', 'comment', 'refresh'])
        await expect.poll(() => load.count(name), { timeout: MAX_RECOVERY_MS }).toBeGreaterThan(0);
      await expect
        .poll(() => keyedLoad?.posts.size, { timeout: MAX_RECOVERY_MS })
        .toBeGreaterThan(0);
      expect(performance.now() - releasedAt).toBeLessThan(MAX_RECOVERY_MS);

      await Promise.all([load.stop(), unaffected.stop(), keyedLoad.stopAndCheck()]);
      expect(load.slowest).toBeLessThan(MAX_RESPONSE_MS);
      expect(unaffected.rejected).toBe(0);
      expect(await countPublished(app(), withoutKeys)).toEqual(
        expectedCounts(1 + load.count('publish')),
      );
      expect(await countPublished(app(), bystander)).toEqual(
        expectedCounts(unaffected.count('publish')),
      );
      const { manager } = app().dataSource;
      expect(await manager.countBy(Comment, { postId })).toBe(load.count('comment'));
      expect(await isTokenAccepted(app(), tokens.access_token)).toBe(true);
      reportFigure(
        task,
        `${database.engine.label}: rows locked for ${HOLD_MS / 1000} s, ${rejectedWhileLocked} × 503 within ${(load.slowest / 1000).toFixed(1)} s, ${unaffected.count('publish')} posts of other users meanwhile`,
      );
    },
  );
});
