import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock } from '../../../platform/clock.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { NotFound } from '../../../platform/errors.js';
import { InvalidToken } from '../../../platform/access/access.errors.js';
import { type Access, AccessTokenVerifier } from '../../../platform/access/caller.js';
import { hasSecretFormat, sha256 } from '../../../platform/secrets.js';
import { QuotaService } from '../../quota/quota.service.js';
import type { App } from '../clients/client.entities.js';
import { OAuthInvalidRequest } from '../protocol/oauth.errors.js';
import { ForeignCredentials } from './foreign-credentials.js';
import { GrantsService } from './grants.service.js';
import { TokensRepository, type StoredToken } from './tokens.repository.js';
import { GrantUsageRecorder } from './grant-usage-recorder.js';

/**
 * Verifies, introspects and revokes tokens. Revoking an access token affects only this token; revoking a refresh token revokes its
 * grant.
 */
@Injectable()
export class TokensService extends AccessTokenVerifier {
  constructor(
    private readonly tokens: TokensRepository,
    private readonly grants: GrantsService,
    private readonly foreign: ForeignCredentials,
    private readonly grantUsage: GrantUsageRecorder,
    private readonly quota: QuotaService,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {
    super();
  }

  /**
   * Looks up the access token by hash, with one indexed query. There is no cache, so that a revocation, a withdrawn scope and a change
   * of the app take effect at once. The last use of the grant is recorded later, in the background.
   */
  override async verify(token: string): Promise<Access> {
    if (!hasSecretFormat('svcat', token)) throw InvalidToken.malformed();
    const stored = await this.tokens.findAccessToken(sha256(token));
    if (!stored || stored.isRevoked) throw InvalidToken.unknown();
    if (stored.appStatus !== 'enabled' || stored.userStatus !== 'active')
      throw InvalidToken.unknown();
    if (stored.expiresAt <= this.clock.now()) throw InvalidToken.expired();
    const { userId, clientId, grantId, scopes, quota } = stored;
    const { latitude, longitude, neighborhood } = stored;
    const savedLocation = { latitude, longitude, neighborhood };
    this.grantUsage.record(grantId, this.clock.now());
    const postLimit = this.quota.limitOf(quota);
    const test = stored.isTest === 1;
    return { userId, clientId, test, grantId, scopes, postLimit, savedLocation };
  }

  /** Returns null for inactive tokens and for tokens of other apps, which are recorded (RFC 7662 §2.2 and §4). */
  async findActive(app: App, value: string): Promise<StoredToken | null> {
    const token = await this.tokens.find(value);
    if (!token) return null;
    if (token.clientId !== app.clientId) {
      await this.foreign.record(app, token);
      return null;
    }
    if (token.isRevoked || token.userStatus !== 'active') return null;
    if (token.kind === 'refresh' && token.consumedAt) return null;
    return token.expiresAt > this.clock.now() ? token : null;
  }

  /** Does nothing for unknown and revoked tokens (RFC 7009 §2.2). @throws OAuthInvalidRequest when the token belongs to another app */
  async revoke(app: App, token: string): Promise<void> {
    const found = await this.tokens.find(token);
    if (!found) return;
    if (found.clientId !== app.clientId) {
      await this.foreign.record(app, found);
      throw new OAuthInvalidRequest('The token was issued to another client.');
    }
    const change = { actor: app.clientId };
    await this.revokeStored(found, change, 'refresh token revoked by the app');
  }

  /** Finds a token of any app. @throws NotFound */
  async get(token: string): Promise<StoredToken> {
    const found = await this.tokens.find(token);
    if (!found)
      throw new NotFound(
        'This access or refresh token does not exist, or it expired and was deleted. To revoke a client secret, use "app secret revoke".',
      );
    return found;
  }

  /** Revokes a token of any app. Returns false if it was already revoked. */
  revokeAsOperator(found: StoredToken, change: Change): Promise<boolean> {
    return this.revokeStored(found, change, 'refresh token revoked by an operator');
  }

  /**
   * Revokes an access token, or the grant of a refresh token.
   * @param grantReason the recorded reason for the revocation of a grant if `change` has none
   * @returns false if the access token or the grant was already revoked
   */
  private revokeStored(
    { kind, hash, grantId, clientId, userId }: StoredToken,
    change: Change,
    grantReason: string,
  ): Promise<boolean> {
    return this.transactions.run(async (tx) => {
      if (kind === 'refresh') {
        const reason = change.reason ?? grantReason;
        return this.grants.revoke(tx, grantId, { ...change, reason });
      }
      const revoked = await this.tokens.revokeAccessToken(tx, hash, this.clock.now());
      if (revoked)
        await this.audit.record(tx, 'token.revoked', grantId, change, { clientId, userId });
      return revoked;
    });
  }
}
