import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../audit/audit-log.repository.js';
import { Clock } from '../../../common/clock.js';
import { isSecret, sha256 } from '../../../common/secrets.js';
import { TransactionRunner } from '../../../database/transaction.js';
import type { App } from '../apps/app.entity.js';
import { GrantRevocation } from '../grants/grant-revocation.js';
import { InvalidRequest } from '../oauth.errors.js';
import { TokensRepository, type StoredRefresh } from './tokens.repository.js';

type OwnedToken = Pick<StoredRefresh, 'grantId' | 'clientId' | 'userId'>;

/**
 * Ends a token that its app gives back (RFC 7009 §2.1). An access token ends alone; with a refresh token, used or not, the
 * whole grant ends. A token tells by itself what it is, so hints are not needed.
 */
@Injectable()
export class TokenRevocation {
  constructor(
    private readonly tokens: TokensRepository,
    private readonly grants: GrantRevocation,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** A token that is unknown or dead already is fine (RFC 7009 §2.2). @throws InvalidRequest when it is another app's */
  async revoke(app: App, token: string): Promise<void> {
    if (isSecret('svcat', token)) await this.revokeAccess(app, sha256(token));
    else if (isSecret('svcrt', token)) await this.revokeGrantOf(app, sha256(token));
  }

  private async revokeAccess(app: App, hash: string): Promise<void> {
    const stored = await this.tokens.findAccess(hash);
    if (!stored) return;
    await this.checkOwner(app, stored);
    const { grantId, clientId, userId } = stored;
    await this.transactions.run(async (tx) => {
      if (!(await this.tokens.revokeAccess(tx, hash, this.clock.now()))) return;
      const change = { actor: clientId };
      await this.audit.record(tx, 'token.revoked', grantId, change, { clientId, userId });
    });
  }

  private async revokeGrantOf(app: App, hash: string): Promise<void> {
    const stored = await this.tokens.findRefresh(hash);
    if (!stored) return;
    await this.checkOwner(app, stored);
    const { grantId, clientId, userId } = stored;
    const reason = 'refresh token revoked by the app';
    await this.grants.revoke(grantId, reason, clientId, { clientId, userId });
  }

  /** @throws InvalidRequest when the token is another app's, which is written down */
  private async checkOwner(app: App, { grantId, clientId, userId }: OwnedToken): Promise<void> {
    if (clientId === app.clientId) return;
    const change = { actor: app.clientId };
    await this.transactions.run((tx) =>
      this.audit.record(tx, 'token.foreign', grantId, change, { clientId, userId }),
    );
    throw new InvalidRequest('The token was issued to another client.');
  }
}
