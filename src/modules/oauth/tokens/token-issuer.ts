import { Injectable } from '@nestjs/common';
import { Clock, later, SECOND } from '../../../platform/clock.js';
import { formatScope, type Scope } from '../../../platform/access/scopes.js';
import { newSecret, sha256 } from '../../../platform/secrets.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import type { Transaction } from '../../../platform/database/transaction.js';
import type { Grant } from './token.entities.js';
import { TokensRepository, type TokenPair } from './tokens.repository.js';

/** A pair of tokens, of which hashes are kept: what a refresh or an exchange is answered with, as far as it must come back the same. */
export interface IssuedTokens {
  accessToken: string;
  refreshToken: string;
  /** End of the access token. */
  expiresAt: Date;
  scopes: readonly Scope[];
}

/** A pair that is not stored yet, with its rows. */
export interface NewTokens extends TokenPair {
  tokens: IssuedTokens;
}

/** Makes the tokens of a grant. */
@Injectable()
export class TokenIssuer {
  constructor(
    private readonly tokens: TokensRepository,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** A new pair, stored. */
  async issue(
    tx: Transaction,
    grant: Pick<Grant, 'id' | 'expiresAt'>,
    scopes: readonly Scope[],
  ): Promise<IssuedTokens> {
    const pair = this.prepare(grant, scopes, this.clock.now());
    await this.tokens.insertAll(tx, [pair]);
    return pair.tokens;
  }

  /**
   * A new pair. Both end with the grant at the latest; the refresh token before, when it is not used for long.
   * `predecessorHash` is of the refresh token that the new one follows.
   */
  prepare(
    grant: Pick<Grant, 'id' | 'expiresAt'>,
    scopes: readonly Scope[],
    now: Date,
    predecessorHash: string | null = null,
  ): NewTokens {
    const { accessToken: lifetime, refreshIdle } = this.config.lifetimes;
    const expiresAt = earlier(later(now, lifetime * SECOND), grant.expiresAt);
    const accessToken = newSecret('svcat');
    const refreshToken = newSecret('svcrt');
    const shared = { grantId: grant.id, createdAt: now };
    return {
      tokens: { accessToken, refreshToken, expiresAt, scopes },
      access: {
        ...shared,
        hash: sha256(accessToken),
        scope: formatScope(scopes),
        expiresAt,
        revokedAt: null,
      },
      refresh: {
        ...shared,
        hash: sha256(refreshToken),
        expiresAt: earlier(later(now, refreshIdle * SECOND), grant.expiresAt),
        consumedAt: null,
        predecessorHash,
        sealedAnswer: null,
        answerExpiresAt: null,
      },
    };
  }
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}
