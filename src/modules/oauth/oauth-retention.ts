import { Injectable } from '@nestjs/common';
import { Clock, DAY, later, MINUTE, SECOND } from '../../platform/clock.js';
import { AppConfig } from '../../platform/config/app-config.js';
import type { ExpiredRows } from '../../platform/database/retention/expired-rows.js';
import { ExpiredOAuthRowsRepository } from './oauth-retention.repository.js';

/** Longer than the clocks of two processes may differ: what one of them deletes has ended for the other one, too. */
const MARGIN_MS = MINUTE;

/** Support can still find a code or refresh token for so long after it has expired. */
const EXPIRED_MS = DAY;

/** So long after its end, support can still tell what a user had granted. */
const ENDED_GRANT_MS = 90 * DAY;

const FAILURES_MS = 2 * DAY;
const HITS_MS = 2 * DAY;
const KNOWN_BROWSER_MS = 400 * DAY;

/** What of the OAuth tables is kept for how long. */
@Injectable()
export class OAuthPruneService {
  constructor(
    private readonly rows: ExpiredOAuthRowsRepository,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * What may be deleted now, in an order that leaves no row without the one that it belongs to.
   *
   * Used codes stay until their grant has ended, and used refresh tokens for a lifetime after their use, when they have
   * expired: a caller who presents one again stole it, and only its row tells which grant to revoke (RFC 6749 §4.1.2,
   * RFC 9700 §4.14.2).
   */
  expired(): ExpiredRows[] {
    const now = this.clock.now();
    const ago = (milliseconds: number): Date => later(now, -milliseconds);
    const ended = ago(MARGIN_MS);
    const expiredSince = ago(EXPIRED_MS);
    const usedSince = ago(EXPIRED_MS + this.config.lifetimes.refreshIdle * SECOND);
    return [
      ...this.rows.shortLived(ended),
      ...this.rows.neverUsed(expiredSince),
      this.rows.usedRefreshTokens(usedSince),
      ...this.rows.ofEndedGrants(ended, expiredSince, usedSince),
      ...this.rows.grants(ago(ENDED_GRANT_MS)),
      this.rows.failures(ago(FAILURES_MS), now),
      this.rows.knownBrowsers(ago(KNOWN_BROWSER_MS)),
      this.rows.hits(ago(this.hitsMs())),
      this.rows.gates(),
    ];
  }

  /** What may be cleared now: stored responses that can no longer be repeated, in rows that stay. */
  cleared(): ExpiredRows {
    return this.rows.answers(later(this.clock.now(), -MARGIN_MS));
  }

  /** The longest window is a day, unless the operator set one that is longer. */
  private hitsMs(): number {
    return Math.max(HITS_MS, 2 * this.config.rateLimits.windowSeconds * SECOND);
  }
}
