import { Injectable } from '@nestjs/common';
import {
  And,
  DataSource,
  IsNull,
  LessThanOrEqual,
  MoreThan,
  Or,
  type SelectQueryBuilder,
} from 'typeorm';
import {
  clearedRows,
  expiredRows,
  foundRows,
  type ExpiredRows,
} from '../../platform/database/retention/expired-rows.js';
import { Authorization } from './authorize/authorization.entity.js';
import { AccessToken, AuthorizationCode, Grant, RefreshToken } from './tokens/token.entities.js';
import {
  TrustedDevice,
  OtpChallenge,
  OtpFailures,
  SignInSession,
} from './sign-in/sign-in.entities.js';
import { RateLimitHit } from './rate-limit/rate-limit.entity.js';
import { GATE } from './rate-limit/rate-limit.repository.js';

/** How a grant ended. One that was revoked counts as that, also after it would have expired. */
type End = 'revokedAt' | 'expiresAt';

const ENDS: readonly End[] = ['revokedAt', 'expiresAt'];

/** What of the OAuth tables is older than a moment, each found by an index that starts with that moment. */
@Injectable()
export class ExpiredOAuthRowsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** What has an end of its own and nothing that hangs on it. */
  shortLived(ended: Date): ExpiredRows[] {
    const expiresAt = LessThanOrEqual(ended);
    return [
      expiredRows(this.dataSource, Authorization, { expiresAt }, 'expiresAt'),
      expiredRows(this.dataSource, OtpChallenge, { expiresAt }, 'expiresAt'),
      expiredRows(this.dataSource, SignInSession, { expiresAt }, 'expiresAt'),
      expiredRows(this.dataSource, AccessToken, { expiresAt }, 'expiresAt'),
    ];
  }

  /** Codes and refresh tokens that expired before they were used. */
  neverUsed(expiredSince: Date): ExpiredRows[] {
    const unused = { consumedAt: IsNull(), expiresAt: LessThanOrEqual(expiredSince) };
    return [
      expiredRows(this.dataSource, AuthorizationCode, unused, 'expiresAt'),
      expiredRows(this.dataSource, RefreshToken, unused, 'expiresAt'),
    ];
  }

  /** Refresh tokens that were used so long ago that they have expired since. */
  usedRefreshTokens(usedSince: Date): ExpiredRows {
    const consumedAt = LessThanOrEqual(usedSince);
    return expiredRows(this.dataSource, RefreshToken, { consumedAt }, 'consumedAt');
  }

  /** The tokens and codes of grants that ended, without those of the methods above. */
  ofEndedGrants(ended: Date, expiredSince: Date, usedSince: Date): ExpiredRows[] {
    const unused = 'expired.consumedAt IS NULL AND expired.expiresAt > :expiredSince';
    return ENDS.flatMap((end) => [
      foundRows(this.dataSource, AccessToken, (query) =>
        ofEnded(query, end, ended).andWhere('expired.expiresAt > :ended', { ended }),
      ),
      foundRows(this.dataSource, AuthorizationCode, (query) =>
        ofEnded(query, end, ended).andWhere(`(expired.consumedAt IS NOT NULL OR ${unused})`, {
          expiredSince,
        }),
      ),
      foundRows(this.dataSource, RefreshToken, (query) =>
        ofEnded(query, end, ended).andWhere(`(expired.consumedAt > :usedSince OR ${unused})`, {
          usedSince,
          expiredSince,
        }),
      ),
    ]);
  }

  /** Answers of used refresh tokens that ended before they were cleared. Only they go: `delete` leaves their rows. */
  answers(ended: Date): ExpiredRows {
    return clearedRows(
      this.dataSource,
      RefreshToken,
      { answerExpiresAt: LessThanOrEqual(ended) },
      'answerExpiresAt',
      { sealedAnswer: null, answerExpiresAt: null },
    );
  }

  grants(ended: Date): ExpiredRows[] {
    const end = LessThanOrEqual(ended);
    return [
      expiredRows(this.dataSource, Grant, { revokedAt: end }, 'revokedAt'),
      expiredRows(this.dataSource, Grant, { expiresAt: end, revokedAt: IsNull() }, 'expiresAt'),
    ];
  }

  /** Counts of wrong passwords in a row, unless their phone is locked at `now`. */
  failures(last: Date, now: Date): ExpiredRows {
    const where = {
      lastAt: LessThanOrEqual(last),
      lockedUntil: Or(IsNull(), LessThanOrEqual(now)),
    };
    return expiredRows(this.dataSource, OtpFailures, where, 'lastAt');
  }

  knownBrowsers(signedIn: Date): ExpiredRows {
    const where = { signedInAt: LessThanOrEqual(signedIn) };
    return expiredRows(this.dataSource, TrustedDevice, where, 'signedInAt');
  }

  hits(last: Date): ExpiredRows {
    const where = { slot: And(MoreThan(GATE), LessThanOrEqual(last)) };
    return expiredRows(this.dataSource, RateLimitHit, where, 'slot');
  }

  /**
   * Gates of keys without a hit. Whoever goes through a gate holds its lock, so none is deleted under somebody's feet; and
   * who finds none inserts it, which only one can. So it does no harm either when a key is hit after it was found here.
   */
  gates(): ExpiredRows {
    return foundRows(this.dataSource, RateLimitHit, (query) =>
      query
        .leftJoin(RateLimitHit, 'hit', 'hit.hash = expired.hash AND hit.slot > :gate')
        .where('expired.slot = :gate', { gate: GATE })
        .andWhere('hit.hash IS NULL'),
    );
  }
}

function ofEnded<T extends AccessToken | AuthorizationCode | RefreshToken>(
  query: SelectQueryBuilder<T>,
  end: End,
  ended: Date,
): SelectQueryBuilder<T> {
  query
    .innerJoin(Grant, 'grant', 'grant.id = expired.grantId')
    .where(`grant.${end} <= :ended`, { ended })
    .orderBy(`grant.${end}`);
  return end === 'revokedAt' ? query : query.andWhere('grant.revokedAt IS NULL');
}
