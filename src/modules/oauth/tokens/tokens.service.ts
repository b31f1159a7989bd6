import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock } from '../../../platform/clock.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { NotFound } from '../../../platform/errors.js';
import type { App } from '../clients/client.entities.js';
import { InvalidRequest } from '../protocol/oauth.errors.js';
import { GrantsService } from './grants.service.js';
import { TokensRepository, type StoredToken } from './tokens.repository.js';

/** Introspection and revocation of tokens. An access token is revoked alone; a refresh token, used or not, with its whole grant. */
@Injectable()
export class TokensService {
  constructor(
    private readonly tokens: TokensRepository,
    private readonly grants: GrantsService,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** Null for unknown, expired, used, revoked and other apps' tokens alike (RFC 7662 §2.2 and §4). */
  async findActive({ clientId }: App, value: string): Promise<StoredToken | null> {
    const token = await this.tokens.find(value);
    if (token?.clientId !== clientId) return null;
    if (token.isRevoked || token.userStatus !== 'active') return null;
    if (token.kind === 'refresh' && token.consumedAt) return null;
    return token.expiresAt > this.clock.now() ? token : null;
  }

  /** Does nothing when the token is unknown or was revoked before (RFC 7009 §2.2). @throws InvalidRequest when it is another app's */
  async revoke(app: App, token: string): Promise<void> {
    const found = await this.tokens.find(token);
    if (!found) return;
    const { grantId, clientId, userId } = found;
    const change = { actor: app.clientId };
    if (clientId !== app.clientId) {
      await this.transactions.run((tx) =>
        this.audit.record(tx, 'token.foreign', grantId, change, { clientId, userId }),
      );
      throw new InvalidRequest('The token was issued to another client.');
    }
    await this.end(found, change, 'refresh token revoked by the app');
  }

  /** Revokes the token of any app. @throws NotFound */
  async revokeAny(token: string, change: Change): Promise<StoredToken & { endedNow: boolean }> {
    const found = await this.tokens.find(token);
    if (!found)
      throw new NotFound(
        'This is no access or refresh token that was issued here, or it was deleted some time after its end. Nothing was revoked. A client secret ends by "app secret revoke".',
      );
    const endedNow = await this.end(found, change, 'refresh token revoked by an operator');
    return { ...found, endedNow };
  }

  /** False when it was revoked before. */
  private end(
    { kind, hash, grantId, clientId, userId }: StoredToken,
    change: Change,
    grantReason: string,
  ): Promise<boolean> {
    const details = { clientId, userId };
    return this.transactions.run(async (tx) => {
      if (kind === 'refresh') {
        const reason = change.reason ?? grantReason;
        return this.grants.revoke(tx, grantId, { ...change, reason }, details);
      }
      const revoked = await this.tokens.revokeAccess(tx, hash, this.clock.now());
      if (revoked) await this.audit.record(tx, 'token.revoked', grantId, change, details);
      return revoked;
    });
  }
}
