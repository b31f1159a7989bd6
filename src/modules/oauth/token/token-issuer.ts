import { Injectable } from '@nestjs/common';
import { Clock, later, SECOND } from '../../../common/clock.js';
import { formatScope, type Scope } from '../../../common/scopes.js';
import { newSecret, sha256 } from '../../../common/secrets.js';
import { AppConfig } from '../../../config/app-config.js';
import type { Transaction } from '../../../database/transaction.js';
import type { Grant } from '../grants/grant.entity.js';
import { TokensRepository } from './tokens.repository.js';

/** A pair of tokens, told once: only their hashes are kept. */
export interface IssuedTokens {
  accessToken: string;
  refreshToken: string;
  /** Seconds. */
  expiresIn: number;
  scopes: readonly Scope[];
}

/** Makes the tokens of a grant. */
@Injectable()
export class TokenIssuer {
  constructor(
    private readonly tokens: TokensRepository,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** A new pair. Both end with the grant at the latest; the refresh token before, when it is not used for long. */
  async issue(tx: Transaction, grant: Grant, scopes: readonly Scope[]): Promise<IssuedTokens> {
    const now = this.clock.now();
    const { accessToken: lifetime, refreshIdle } = this.config.lifetimes;
    const accessEnd = earlier(later(now, lifetime * SECOND), grant.expiresAt);
    const expiresIn = Math.floor((accessEnd.getTime() - now.getTime()) / SECOND);
    const accessToken = newSecret('svcat');
    const refreshToken = newSecret('svcrt');
    const shared = { grantId: grant.id, createdAt: now };
    await this.tokens.insert(
      tx,
      {
        ...shared,
        hash: sha256(accessToken),
        scope: formatScope(scopes),
        expiresAt: accessEnd,
        revokedAt: null,
      },
      {
        ...shared,
        hash: sha256(refreshToken),
        expiresAt: earlier(later(now, refreshIdle * SECOND), grant.expiresAt),
        consumedAt: null,
      },
    );
    return { accessToken, refreshToken, expiresIn, scopes };
  }
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}
