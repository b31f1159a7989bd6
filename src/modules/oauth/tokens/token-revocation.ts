import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock } from '../../../platform/clock.js';
import { NotFound } from '../../../platform/errors.js';
import { isSecret, sha256 } from '../../../platform/secrets.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import type { App } from '../clients/client.entities.js';
import { GrantRevocation } from './grants.service.js';
import { InvalidRequest } from '../protocol/oauth.errors.js';
import { TokensRepository, type StoredAccess, type StoredRefresh } from './tokens.repository.js';

/** A token that was issued here, and to whom. */
export interface OwnedToken extends Pick<StoredRefresh, 'grantId' | 'clientId' | 'userId'> {
  kind: 'access' | 'refresh';
  hash: string;
}

/** What an operator handed in is no token of this service. */
export class UnknownToken extends NotFound {
  constructor() {
    super(
      'This is no access or refresh token that was issued here, or it was deleted some time after its end. Nothing was revoked. A client secret ends by "app secret revoke".',
    );
  }
}

/**
 * Ends a token that its app gives back (RFC 7009 §2.1), or an operator found. An access token ends alone; with a refresh token, used or not, the
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
    const found = await this.find(token);
    if (!found) return;
    await this.checkOwner(app, found);
    await this.end(found, { actor: app.clientId }, 'refresh token revoked by the app');
  }

  /** The same for an operator, whosever token it is. @throws UnknownToken */
  async revokeAny(token: string, change: Change): Promise<OwnedToken & { endedNow: boolean }> {
    const found = await this.find(token);
    if (!found) throw new UnknownToken();
    const endedNow = await this.end(found, change, 'refresh token revoked by an operator');
    return { ...found, endedNow };
  }

  private async find(token: string): Promise<OwnedToken | undefined> {
    const hash = sha256(token);
    if (isSecret('svcat', token)) return owned('access', hash, await this.tokens.findAccess(hash));
    if (isSecret('svcrt', token))
      return owned('refresh', hash, await this.tokens.findRefresh(hash));
    return undefined;
  }

  /** False when it had been ended before. */
  private end(
    { kind, hash, grantId, clientId, userId }: OwnedToken,
    change: Change,
    why: string,
  ): Promise<boolean> {
    const details = { clientId, userId };
    if (kind === 'refresh')
      return this.grants.revoke(grantId, { ...change, reason: change.reason ?? why }, details);
    return this.transactions.run(async (tx) => {
      const first = await this.tokens.revokeAccess(tx, hash, this.clock.now());
      if (first) await this.audit.record(tx, 'token.revoked', grantId, change, details);
      return first;
    });
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

function owned(
  kind: OwnedToken['kind'],
  hash: string,
  stored: StoredAccess | StoredRefresh | null,
): OwnedToken | undefined {
  if (!stored) return undefined;
  const { grantId, clientId, userId } = stored;
  return { kind, hash, grantId, clientId, userId };
}
