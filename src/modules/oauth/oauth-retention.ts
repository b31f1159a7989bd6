import { Injectable } from '@nestjs/common';
import { And, DataSource, IsNull, LessThanOrEqual, MoreThan, Or } from 'typeorm';
import { Clock, DAY, addMilliseconds, MINUTE, SECOND } from '../../platform/clock.js';
import { AppConfig } from '../../platform/config/app-config.js';
import {
  rowsToClear,
  deletableRows,
  matchingRows,
  type DeletableRows,
} from '../../platform/database/retention/deletion-queries.js';
import { Authorization } from './authorize/authorization.entity.js';
import { RateLimitHit, TrustedDevice } from './rate-limit/rate-limit.entities.js';
import { LOCK_SLOT } from './rate-limit/rate-limit.repository.js';
import { OtpChallenge, OtpFailures, SignInSession } from './sign-in/sign-in.entities.js';
import { AccessToken, AuthorizationCode, Grant, RefreshToken } from './tokens/token.entities.js';

/** Maximum difference between the clocks of two processes. */
const CLOCK_SKEW_MS = MINUTE;

/** How long unused codes and refresh tokens remain after they have expired, for support. */
const EXPIRED_CREDENTIALS_MS = DAY;
/** How long grants remain after they have expired or were revoked, for support. */
const ENDED_GRANTS_MS = 90 * DAY;
/** How long a trusted device remains after its last sign-in, and a count of wrong one-time passwords after the last attempt. */
const TRUSTED_DEVICES_MS = 400 * DAY;
/** How long counted attempts remain: twice the longest window of a rate limit. */
const RATE_LIMIT_HITS_MS = 2 * DAY;

type Credential = AccessToken | AuthorizationCode | RefreshToken;

/** Retention of the OAuth tables. Each query uses an index that starts with a time column. */
@Injectable()
export class OAuthRetention {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * The rows to delete now, codes and tokens before their grants.
   *
   * Used codes remain until their grant has ended. Used refresh tokens remain until then, or until a day plus the idle
   * lifetime has passed since their use, whichever is first. Reuse means theft, and only the row identifies the grant to revoke (RFC 6749 §4.1.2, RFC 9700 §4.14.2).
   */
  expired(): DeletableRows[] {
    const { dataSource } = this;
    const now = this.clock.now();
    const { lifetimes } = this.config;
    /** Matches times that are at least so many milliseconds ago. */
    const before = (milliseconds: number) => LessThanOrEqual(addMilliseconds(now, -milliseconds));
    const unused = { consumedAt: IsNull(), expiresAt: before(EXPIRED_CREDENTIALS_MS) };
    // How long used refresh tokens remain after their use.
    const usedMs = EXPIRED_CREDENTIALS_MS + lifetimes.refreshIdle * SECOND;
    const endOfGrant = before(ENDED_GRANTS_MS);
    return [
      ...[Authorization, OtpChallenge, SignInSession, AccessToken].map((entity) =>
        deletableRows(dataSource, entity, {
          where: { expiresAt: before(CLOCK_SKEW_MS) },
          indexColumn: 'expiresAt',
        }),
      ),
      deletableRows(dataSource, AuthorizationCode, { where: unused, indexColumn: 'expiresAt' }),
      deletableRows(dataSource, RefreshToken, { where: unused, indexColumn: 'expiresAt' }),
      deletableRows(dataSource, RefreshToken, {
        where: { consumedAt: before(usedMs) },
        indexColumn: 'consumedAt',
      }),
      ...this.credentialsOfEndedGrants('revokedAt', now, usedMs),
      ...this.credentialsOfEndedGrants('expiresAt', now, usedMs),
      deletableRows(dataSource, Grant, {
        where: { revokedAt: endOfGrant },
        indexColumn: 'revokedAt',
      }),
      deletableRows(dataSource, Grant, {
        where: { expiresAt: endOfGrant, revokedAt: IsNull() },
        indexColumn: 'expiresAt',
      }),
      deletableRows(dataSource, OtpFailures, {
        where: {
          lastAttemptAt: before(TRUSTED_DEVICES_MS),
          lockedUntil: Or(IsNull(), LessThanOrEqual(now)),
        },
        indexColumn: 'lastAttemptAt',
      }),
      deletableRows(dataSource, TrustedDevice, {
        where: { signedInAt: before(TRUSTED_DEVICES_MS) },
        indexColumn: 'signedInAt',
      }),
      deletableRows(dataSource, RateLimitHit, {
        where: { slot: And(MoreThan(LOCK_SLOT), before(RATE_LIMIT_HITS_MS)) },
        indexColumn: 'slot',
      }),
      this.unusedLockRows(),
    ];
  }

  /** Used refresh tokens whose retry window has ended. Clears their stored responses; the rows remain. */
  responsesToClear(): DeletableRows {
    const ended = addMilliseconds(this.clock.now(), -CLOCK_SKEW_MS);
    return rowsToClear(this.dataSource, RefreshToken, {
      where: { responseExpiresAt: LessThanOrEqual(ended) },
      indexColumn: 'responseExpiresAt',
      set: { encryptedResponse: null, responseExpiresAt: null },
    });
  }

  /**
   * Codes and tokens of ended grants, without those that the other queries of `expired()` match. In the conditions, `deletable` is
   * the alias of the table of codes or tokens.
   * @param end how the grants ended. A grant that was revoked and has expired counts as revoked.
   */
  private credentialsOfEndedGrants(
    end: 'revokedAt' | 'expiresAt',
    now: Date,
    usedMs: number,
  ): DeletableRows[] {
    const times = {
      ended: addMilliseconds(now, -CLOCK_SKEW_MS),
      expiredSince: addMilliseconds(now, -EXPIRED_CREDENTIALS_MS),
      usedSince: addMilliseconds(now, -usedMs),
    };
    const rowsWhere = (entity: new () => Credential, condition: string): DeletableRows =>
      matchingRows(this.dataSource, entity, (query) => {
        query
          .innerJoin(Grant, 'grant', 'grant.id = deletable.grantId')
          .where(`grant.${end} <= :ended AND ${condition}`, times)
          .orderBy(`grant.${end}`);
        return end === 'revokedAt' ? query : query.andWhere('grant.revokedAt IS NULL');
      });
    const unused = 'deletable.consumedAt IS NULL AND deletable.expiresAt > :expiredSince';
    return [
      rowsWhere(AccessToken, 'deletable.expiresAt > :ended'),
      rowsWhere(AuthorizationCode, `(deletable.consumedAt IS NOT NULL OR ${unused})`),
      rowsWhere(RefreshToken, `(deletable.consumedAt > :usedSince OR ${unused})`),
    ];
  }

  /**
   * Lock rows (slot `LOCK_SLOT`) whose hash of limit and key has no hits. Deleting one is safe at any time, because
   * `RateLimiter` upserts the row before it counts.
   */
  private unusedLockRows(): DeletableRows {
    return matchingRows(this.dataSource, RateLimitHit, (query) =>
      query
        .leftJoin(RateLimitHit, 'hit', 'hit.hash = deletable.hash AND hit.slot > :lock')
        .where('deletable.slot = :lock AND hit.hash IS NULL', { lock: LOCK_SLOT }),
    );
  }
}
