import { Injectable } from '@nestjs/common';
import {
  And,
  DataSource,
  type EntityTarget,
  type FindOptionsWhere,
  IsNull,
  LessThan,
  LessThanOrEqual,
  MoreThan,
  type ObjectLiteral,
  Or,
} from 'typeorm';
import { AuditEvent } from '../../platform/audit/audit-event.entity.js';
import { addMilliseconds, Clock, DAY, MINUTE, SECOND } from '../../platform/clock.js';
import { AppConfig } from '../../platform/config/app-config.js';
import {
  type BatchSettings,
  childRows,
  countRows,
  deletableRows,
  type DeletableRows,
  deleteRows,
  logRowsBefore,
  matchingRows,
  type RowsByTable,
} from '../../platform/database/deletable-rows.js';
import { rowsInPages } from '../../platform/database/rows-in-pages.js';
import { TransactionRunner } from '../../platform/database/transaction.js';
import { IdempotencyKey } from '../../platform/http/idempotency/idempotency-key.entity.js';
import { JobRun } from '../../platform/lifecycle/job-run.entity.js';
import { hourOf, JOBS } from '../../platform/lifecycle/job-runner.service.js';
import { Comment } from '../comments/comment.entity.js';
import { WebhookEvent } from '../events/event.entities.js';
import { Authorization } from '../oauth/authorize/authorization.entity.js';
import { LOCK_SLOT, RateLimitHit, TrustedDevice } from '../oauth/rate-limit/rate-limit.entities.js';
import {
  OtpChallenge,
  OtpCount,
  OtpFailures,
  SignInSession,
} from '../oauth/sign-in/sign-in.entities.js';
import { OtpOperations } from '../oauth/sign-in/otp-operations.service.js';
import {
  AccessToken,
  AuthorizationCode,
  Grant,
  RefreshToken,
} from '../oauth/tokens/token.entities.js';
import { Post, PostLike } from '../posts/post.entities.js';
import { ApiCall } from '../quota/quota.entities.js';
import { callLogStart, UsageRollup } from '../quota/calls/usage-rollup.service.js';

/** Maximum difference between the clocks of two processes, so that none deletes a row that is valid for another. */
const CLOCK_SKEW_MS = MINUTE;
/** How long unused codes and refresh tokens remain after they have expired, for support. */
const EXPIRED_CREDENTIALS_MS = DAY;
/** How long grants remain after they have expired or were revoked, for support. */
const ENDED_GRANTS_MS = 90 * DAY;
/** How long a trusted device remains after its last sign-in. */
const TRUSTED_DEVICES_MS = 400 * DAY;
/** How long a count of wrong one-time passwords remains after the last attempt. */
const OTP_FAILURES_MS = 90 * DAY;
/** How long a locked phone number remains locked after the last attempt. Carriers give the number to somebody else by then. */
const OTP_LOCKS_MS = 400 * DAY;
/** How long the counts of `otp report` remain. */
const OTP_COUNTS_MS = 400 * DAY;
/** How long counted attempts remain: twice the longest window of a rate limit. */
const RATE_LIMIT_HITS_MS = 2 * DAY;
const JOB_RUNS_MS = 90 * DAY;
/** How long events remain, delivered or not. The last attempt is three days after the first. */
const WEBHOOK_EVENTS_MS = 30 * DAY;

interface PruneOptions extends Pick<BatchSettings, 'onBatch'> {
  /** When to stop, even if rows are left; the next run continues. */
  stopAt?: Date;
  /** Called before the expired calls of a day are aggregated. */
  onDay?: (day: string) => void;
}

/** What expires, and when; and its deletion. Requests ignore expired rows, so a late deletion changes no response. */
@Injectable()
export class Retention {
  constructor(
    private readonly dataSource: DataSource,
    private readonly usage: UsageRollup,
    private readonly otp: OtpOperations,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Counts the rows that a run would delete now.
   * @param onTable called before rows of a table are counted
   */
  preview(onTable?: (table: string) => void): Promise<RowsByTable> {
    return countRows(this.expired(this.clock.now()), onTable);
  }

  /** Deletes in batches. Idempotent and safe to run concurrently. */
  async run({ stopAt, onBatch, onDay }: PruneOptions = {}): Promise<RowsByTable> {
    const { dataSource, transactions } = this;
    const shouldStop = (): boolean => stopAt !== undefined && this.clock.now() >= stopAt;
    const settings = { shouldStop, onBatch };
    // The clock was checked before the run. If it changes meanwhile, nothing may count as expired that was not.
    const now = this.clock.now();
    // The stored responses of used refresh tokens whose retry window has ended. The rows remain, so the result does not list them.
    const ended = LessThanOrEqual(addMilliseconds(now, -CLOCK_SKEW_MS));
    const clear = ['encryptedResponse', 'responseExpiresAt'] as const;
    const where = { responseExpiresAt: ended };
    const responses = deletableRows(dataSource, RefreshToken, where, { clear });
    await deleteRows(transactions, [responses], settings);
    const callsBefore = await this.usage.rollUpExpiredCalls(now, { stopAt, onDay });
    const deleted = await deleteRows(transactions, this.expired(now, callsBefore), settings);
    await this.otp.hashPhones();
    return deleted;
  }

  /**
   * The rows that have expired at `now`, in the order of deletion: child rows before their parents. A row is in one set only. The
   * first column of each condition is the one by which an index finds the rows.
   *
   * Used codes remain until their grant has ended. Used refresh tokens remain until then, or until a day plus the idle lifetime has
   * passed since their use, whichever is first. Reuse means theft, and only the row identifies the grant to revoke (RFC 6749 §4.1.2,
   * RFC 9700 §4.14.2).
   * @param callsBefore deletes API calls before this time only, because later ones are not aggregated yet
   */
  expired(now: Date, callsBefore = callLogStart(now, this.config)): DeletableRows[] {
    const { dataSource } = this;
    const { lifetimes, retention } = this.config;
    const ago = (milliseconds: number): Date => addMilliseconds(now, -milliseconds);
    const before = (milliseconds: number) => LessThanOrEqual(ago(milliseconds));
    const rows = <T extends ObjectLiteral>(entity: EntityTarget<T>, where: FindOptionsWhere<T>) =>
      deletableRows(dataSource, entity, where);

    const usedMs = EXPIRED_CREDENTIALS_MS + lifetimes.refreshIdle * SECOND;
    // The name of an hour, such as 2026-08-21T05. Names sort by time, as text.
    const firstPeriod = hourOf(ago(JOB_RUNS_MS)).name;
    const deletedPostsMs = retention.deletedPosts * DAY + CLOCK_SKEW_MS;
    const expiredPosts = () =>
      rowsInPages(dataSource, Post, [{ deletedAt: before(deletedPostsMs) }], {
        columns: ['id', 'deletedAt'],
        orderBy: ['deletedAt', 'id'],
      });
    return [
      rows(Authorization, { expiresAt: before(CLOCK_SKEW_MS) }),
      rows(OtpChallenge, { expiresAt: before(CLOCK_SKEW_MS) }),
      rows(SignInSession, { expiresAt: before(CLOCK_SKEW_MS) }),
      rows(AccessToken, { expiresAt: before(CLOCK_SKEW_MS) }),
      rows(AuthorizationCode, { expiresAt: before(EXPIRED_CREDENTIALS_MS), consumedAt: IsNull() }),
      rows(RefreshToken, { expiresAt: before(EXPIRED_CREDENTIALS_MS), consumedAt: IsNull() }),
      rows(RefreshToken, { consumedAt: before(usedMs) }),
      ...this.credentialsOfEndedGrants('revokedAt', ago, usedMs),
      ...this.credentialsOfEndedGrants('expiresAt', ago, usedMs),
      rows(Grant, { revokedAt: before(ENDED_GRANTS_MS) }),
      rows(Grant, { expiresAt: before(ENDED_GRANTS_MS), revokedAt: IsNull() }),
      rows(OtpFailures, {
        lastAttemptAt: before(OTP_FAILURES_MS),
        lockedUntil: Or(IsNull(), LessThanOrEqual(now)),
      }),
      rows(OtpFailures, { lastAttemptAt: before(OTP_LOCKS_MS), lockedUntil: MoreThan(now) }),
      rows(OtpCount, { hour: before(OTP_COUNTS_MS) }),
      rows(TrustedDevice, { signedInAt: before(TRUSTED_DEVICES_MS) }),
      rows(RateLimitHit, { slot: And(MoreThan(LOCK_SLOT), before(RATE_LIMIT_HITS_MS)) }),
      this.unusedLockRows(ago(RATE_LIMIT_HITS_MS)),
      rows(WebhookEvent, { createdAt: before(WEBHOOK_EVENTS_MS) }),
      rows(IdempotencyKey, { expiresAt: before(CLOCK_SKEW_MS) }),
      logRowsBefore(dataSource, ApiCall, callsBefore),
      logRowsBefore(dataSource, AuditEvent, ago(retention.auditLog * DAY)),
      ...JOBS.map((job) => rows(JobRun, { period: LessThan(firstPeriod), job })),
      rows(Comment, { deletedAt: before(deletedPostsMs) }),
      childRows(dataSource, expiredPosts, Comment, 'postId', {
        where: { deletedAt: Or(IsNull(), MoreThan(ago(deletedPostsMs))) },
      }),
      childRows(dataSource, expiredPosts, PostLike, 'postId'),
      rows(Post, { deletedAt: before(deletedPostsMs) }),
    ];
  }

  /**
   * Codes and tokens of ended grants, without those that other conditions of `expired` match. Grants remain for long after their
   * codes and tokens, so one statement finds the grants that still have some.
   * @param end how the grants ended. A grant that was revoked and has expired counts as revoked.
   */
  private credentialsOfEndedGrants(
    end: 'revokedAt' | 'expiresAt',
    ago: (milliseconds: number) => Date,
    usedMs: number,
  ): DeletableRows[] {
    const times = {
      ended: ago(CLOCK_SKEW_MS),
      expiredSince: ago(EXPIRED_CREDENTIALS_MS),
      usedSince: ago(usedMs),
    };
    const rows = (
      entity: new () => AccessToken | AuthorizationCode | RefreshToken,
      condition: string,
    ): DeletableRows =>
      matchingRows(this.dataSource, entity, (query) => {
        query
          .innerJoin(Grant, 'grant', 'grant.id = row.grantId')
          .where(`grant.${end} <= :ended AND ${condition}`, times)
          .orderBy(`grant.${end}`);
        return end === 'revokedAt' ? query : query.andWhere('grant.revokedAt IS NULL');
      });
    const unused = 'row.consumedAt IS NULL AND row.expiresAt > :expiredSince';
    return [
      rows(AccessToken, 'row.expiresAt > :ended'),
      rows(AuthorizationCode, `(row.consumedAt IS NOT NULL OR ${unused})`),
      rows(RefreshToken, `(row.consumedAt > :usedSince OR ${unused})`),
    ];
  }

  /**
   * Lock rows (slot `LOCK_SLOT`) whose hash of limit and key has no hits after this time: the preview counts before the older hits are
   * deleted. Deleting one is safe at any time, because `RateLimiter` upserts the row before it counts.
   */
  private unusedLockRows(lastExpired: Date): DeletableRows {
    return matchingRows(this.dataSource, RateLimitHit, (query) =>
      query
        .leftJoin(RateLimitHit, 'hit', 'hit.hash = row.hash AND hit.slot > :lastExpired', {
          lastExpired,
        })
        .where('row.slot = :lock AND hit.hash IS NULL', { lock: LOCK_SLOT }),
    );
  }
}
