import { Injectable } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import { canonicalScopes, parseScope, splitScope, type Scope } from '../../../common/scopes.js';
import { isSecret, sha256 } from '../../../common/secrets.js';
import { TransactionRunner } from '../../../database/transaction.js';
import { UsersService } from '../../users/users.service.js';
import type { App } from '../apps/app.entity.js';
import type { Grant } from '../grants/grant.entity.js';
import { GrantRevocation } from '../grants/grant-revocation.js';
import { InvalidGrant, InvalidScope } from '../oauth.errors.js';
import type { Parameters } from '../parameters.js';
import { TokenIssuer, type IssuedTokens } from './token-issuer.js';
import { TokensRepository } from './tokens.repository.js';

/** The refresh grant (RFC 6749 §6). Every refresh token is used once and followed by the next (RFC 9700 §4.14.2). */
@Injectable()
export class RefreshTokenGrant {
  constructor(
    private readonly tokens: TokensRepository,
    private readonly users: UsersService,
    private readonly issuer: TokenIssuer,
    private readonly revocation: GrantRevocation,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** @throws InvalidRequest; InvalidScope, which spends nothing; InvalidGrant, which for a used token ends its grant */
  async refresh(app: App, parameters: Parameters): Promise<IssuedTokens> {
    const value = parameters.require('refresh_token');
    const stored = isSecret('svcrt', value) ? await this.tokens.findRefresh(sha256(value)) : null;
    if (stored?.grant.clientId !== app.clientId) throw unknownToken();
    const { token, grant } = stored;
    const now = this.clock.now();
    if (grant.revokedAt || token.expiresAt <= now || grant.expiresAt <= now) throw unknownToken();
    if (!(await this.users.active(grant.userId))) throw unknownToken();
    const scopes = narrowedScopes(grant, parameters.get('scope'));
    const issued = token.consumedAt ? undefined : await this.rotate(token.hash, grant, scopes, now);
    if (issued) return issued;
    await this.revocation.revoke(grant.id, 'refresh token reused');
    throw unknownToken();
  }

  private rotate(
    hash: string,
    grant: Grant,
    scopes: Scope[],
    now: Date,
  ): Promise<IssuedTokens | undefined> {
    return this.transactions.run(async (tx) =>
      (await this.tokens.consumeRefresh(tx, hash, now))
        ? this.issuer.issue(tx, grant, scopes)
        : undefined,
    );
  }
}

/** The scopes of the new access token: the grant's, or fewer (RFC 6749 §6). The next refresh starts from the grant's again. */
function narrowedScopes({ scope }: Grant, requested: string | undefined): Scope[] {
  const granted = parseScope(scope);
  if (requested === undefined) return granted;
  const wanted = splitScope(requested);
  if (wanted.length === 0) throw new InvalidScope('scope names no scope.');
  const names: readonly string[] = granted;
  if (!wanted.every((name) => names.includes(name)))
    throw new InvalidScope('scope may not exceed what the user granted.');
  return canonicalScopes(wanted);
}

function unknownToken(): InvalidGrant {
  return new InvalidGrant('The refresh token is unknown, expired, revoked or was used before.');
}
