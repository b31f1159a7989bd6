import type { EntityTarget, ObjectLiteral } from 'typeorm';
import { AuditEvent } from '../../../src/platform/audit/audit-event.entity.js';
import { addMilliseconds } from '../../../src/platform/clock.js';
import { IdempotencyKey } from '../../../src/platform/http/idempotency/idempotency-key.entity.js';
import { Comment } from '../../../src/modules/comments/comment.entity.js';
import { Authorization } from '../../../src/modules/oauth/authorize/authorization.entity.js';
import {
  AccessToken,
  AuthorizationCode,
  Grant,
  RefreshToken,
} from '../../../src/modules/oauth/tokens/token.entities.js';
import {
  OtpChallenge,
  OtpCount,
  OtpFailures,
  SignInSession,
} from '../../../src/modules/oauth/sign-in/sign-in.entities.js';
import {
  TrustedDevice,
  RateLimitHit,
} from '../../../src/modules/oauth/rate-limit/rate-limit.entities.js';
import { Post, PostLike } from '../../../src/modules/posts/post.entities.js';
import { ApiCall } from '../../../src/modules/quota/quota.entities.js';
import { JobRun } from '../../../src/platform/lifecycle/job-run.entity.js';
import { hourOf } from '../../../src/platform/lifecycle/job-runner.service.js';
import { Retention } from '../../../src/modules/operations/retention.js';
import { IS_QUICK } from '../../suite.js';
import { onEachEngine, onSqliteAndOneServer } from '../../support/database.js';
import { analyzeTables, insertMany } from '../../support/fixtures.js';
import { skipCounterCheck } from '../../support/invariants.js';
import { recordQueries, type RecordedQuery, fullScansOf } from '../../support/queries.js';
import { useTestApp } from '../../support/test-app.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ROWS = 3000;

const onEngines = IS_QUICK ? onSqliteAndOneServer : onEachEngine;

onEngines('Pruning: search statements', (database) => {
  // The inserted rows do not match the counters.
  skipCounterCheck(database);
  const app = useTestApp(database);

  function fill<T extends ObjectLiteral>(
    entity: EntityTarget<T>,
    row: (number: number, hash: string) => ObjectLiteral,
  ): Promise<void> {
    return insertMany(app().dataSource, entity, ROWS, row);
  }

  /** Inserts mostly rows that pruning keeps, as in a service that prunes every hour. */
  async function fillAll(): Promise<void> {
    const now = app().clock.now();
    const dayAgo = addMilliseconds(now, -DAY);
    const live = { createdAt: dayAgo, expiresAt: addMilliseconds(now, DAY) };
    const common = { clientId: 'svc_app_x', scope: 'posts.read', redirectUri: 'x:/', state: 's' };
    // Of each hundred grants, one was revoked and one has expired.
    const ends = [{ revokedAt: dayAgo }, { expiresAt: dayAgo }];
    await fill(Grant, (number) => ({
      ...live,
      ...common,
      id: `grt_${number}`,
      userId: `usr_${number}`,
      requestedScope: common.scope,
      ...ends[number % 100],
    }));
    const token = (number: number, hash: string) => ({ ...live, hash, grantId: `grt_${number}` });
    const used = { consumedAt: dayAgo, expiresAt: dayAgo, redirectUri: 'x:/' };
    await fill(AccessToken, (number, hash) => ({ ...token(number, hash), ...common }));
    await fill(RefreshToken, (number, hash) => ({ ...token(number, hash), ...used }));
    await fill(AuthorizationCode, (number, hash) => ({ ...token(number, hash), ...used }));
    const browser = (hash: string) => ({ browserHash: hash });
    await fill(Authorization, (number, hash) => ({
      ...live,
      ...common,
      ...browser(hash),
      id: `txn_${number}`,
    }));
    await fill(TrustedDevice, (_, hash) => ({ ...browser(hash), phone: '+1', signedInAt: now }));
    await fill(OtpChallenge, (number, hash) => ({
      ...live,
      id: `txn_${number}`,
      phone: '+1',
      codeHash: hash,
    }));
    await fill(OtpCount, (number) => ({
      hour: addMilliseconds(now, -number * MINUTE),
      country: 'US',
      clientId: '',
      result: 'sent',
      total: 1,
    }));
    await fill(OtpFailures, (_, hash) => ({
      phone: hash.slice(0, 16),
      failures: 1,
      lastAttemptAt: now,
    }));
    await fill(SignInSession, (number, hash) => ({ ...live, hash, userId: `usr_${number}` }));
    await fill(JobRun, (number) => ({
      job: number % 2 === 0 ? 'prune' : 'other',
      period: hourOf(addMilliseconds(now, -Math.floor(number / 2) * HOUR)).name,
      startedAt: now,
    }));
    await fill(IdempotencyKey, (number, hash) => ({
      ...live,
      hash,
      clientId: common.clientId,
      userId: `usr_${number}`,
      requestHash: hash,
      result: '{}',
    }));
    await fillLogs(now);
    await fillPosts(now);
    await fill(RateLimitHit, (_, hash) => ({ hash, slot: now, hits: 1 }));
    await analyzeTables(database, app().dataSource);
  }

  async function fillLogs(now: Date): Promise<void> {
    const hoursAgo = (hours: number): Date => addMilliseconds(now, -hours * HOUR);
    await fill(ApiCall, (number) => ({
      at: hoursAgo(4 * number),
      id: `call_${number}`,
      clientId: 'svc_app_x',
      route: 'GET /dev/v1/me',
      status: 200,
      durationMs: 1,
      requestId: `req_${number}`,
    }));
    await fill(AuditEvent, (number) => ({
      at: hoursAgo(6 * number),
      id: `evt_${number}`,
      action: 'app.created',
      actor: 'olga',
      subject: 'svc_app_x',
      details: {},
    }));
  }

  /** Inserts posts, likes and comments. One post in a hundred and one comment in seventy were deleted long ago. */
  async function fillPosts(now: Date): Promise<void> {
    const deletedAt = (number: number, every: number) =>
      number % every === 0 ? addMilliseconds(now, -(40 + number / every) * DAY) : null;
    await fill(Post, (number) => ({
      id: `post_${number}`,
      userId: `usr_${number}`,
      type: 'general',
      visibility: 'public',
      images: [],
      tags: [],
      createdAt: now,
      deletedAt: deletedAt(number, 100),
    }));
    await fill(PostLike, (number) => ({
      postId: `post_${number}`,
      userId: `usr_${number}`,
      createdAt: now,
    }));
    await fill(Comment, (number) => ({
      id: `cmt_${number}`,
      postId: `post_${number}`,
      userId: `usr_${number}`,
      text: 'Hi',
      createdAt: now,
      deletedAt: deletedAt(number, 70),
    }));
  }

  /** Prunes, and returns the statements that search for rows to delete or for the parents of such rows. */
  async function recordSearches(): Promise<RecordedQuery[]> {
    const found = await recordQueries(app().dataSource, () => app().service(Retention).run());
    return found.filter(({ query }) => /^SELECT .* LIMIT (1000|500)$/s.test(query));
  }

  it('O142 no search statement reads a whole table or a whole index', async () => {
    await fillAll();
    const searches = await recordSearches();
    expect(searches.length).toBeGreaterThan(20);
    for (const { query, parameters } of searches) {
      const scans = await fullScansOf(database, app().dataSource, query, parameters);
      expect(scans, query).toEqual([]);
    }
  });
});
