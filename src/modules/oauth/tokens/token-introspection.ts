import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock.js';
import { isSecret, sha256 } from '../../../platform/secrets.js';
import type { App } from '../clients/client.entities.js';
import { IntrospectionRepository, type TokenState } from './introspection.repository.js';

/** Tells an app what one of its own tokens stands for (RFC 7662). */
@Injectable()
export class TokenIntrospection {
  constructor(
    private readonly repository: IntrospectionRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * The token while it opens something; null for everything else: unknown, expired, used, revoked, or another app's, which
   * are not told apart (RFC 7662 §2.2 and §4).
   */
  async live({ clientId }: App, token: string): Promise<TokenState | null> {
    const state = await this.find(token);
    if (state?.clientId !== clientId) return null;
    const { expiresAt, endedAt, grantRevokedAt, grantExpiresAt, userStatus } = state;
    const now = this.clock.now();
    const isOver = endedAt !== null || grantRevokedAt !== null || userStatus !== 'active';
    return isOver || expiresAt <= now || grantExpiresAt <= now ? null : state;
  }

  private async find(token: string): Promise<TokenState | null> {
    if (isSecret('svcat', token)) return this.repository.findAccess(sha256(token));
    if (isSecret('svcrt', token)) return this.repository.findRefresh(sha256(token));
    return null;
  }
}
