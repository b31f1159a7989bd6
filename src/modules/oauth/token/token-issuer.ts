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

  /** A new pair. The refresh token ends when it is not used for long, and with the grant at the latest. */
  async issue(tx: Transaction, grant: Grant, scopes: readonly Scope[]): Promise<IssuedTokens> {
    const now = this.clock.now();
    const { accessToken: expiresIn, refreshIdle } = this.config.lifetimes;
    const accessToken = newSecret('svcat');
    const refreshToken = newSecret('svcrt');
    const idleEnd = later(now, refreshIdle * SECOND);
    const shared = { grantId: grant.id, createdAt: now };
    await this.tokens.insert(
      tx,
      {
        ...shared,
        hash: sha256(accessToken),
        scope: formatScope(scopes),
        expiresAt: later(now, expiresIn * SECOND),
        revokedAt: null,
      },
      {
        ...shared,
        hash: sha256(refreshToken),
        expiresAt: idleEnd < grant.expiresAt ? idleEnd : grant.expiresAt,
        consumedAt: null,
      },
    );
    return { accessToken, refreshToken, expiresIn, scopes };
  }
}
