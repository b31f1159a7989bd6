import { Injectable } from '@nestjs/common';
import { InvalidToken } from '../../../platform/access/access.errors.js';
import { type Access, AccessTokenVerifier } from '../../../platform/access/caller.js';
import { parseScope } from '../../../platform/access/scopes.js';
import { Clock } from '../../../platform/clock.js';
import { isSecret, sha256 } from '../../../platform/secrets.js';
import { QuotaService } from '../../quota/quota.service.js';
import { GrantUse } from './grant-use.js';
import { TokensRepository } from './tokens.repository.js';

/** Looks up access tokens by hash, with one indexed statement and no write. No cache: a revocation takes effect at once. */
@Injectable()
export class StoredAccessTokenVerifier extends AccessTokenVerifier {
  constructor(
    private readonly tokens: TokensRepository,
    private readonly quota: QuotaService,
    private readonly grantUse: GrantUse,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async verify(token: string): Promise<Access> {
    if (!isSecret('svcat', token)) throw InvalidToken.malformed();
    const stored = await this.tokens.findAccess(sha256(token));
    if (!stored || stored.isRevoked) throw InvalidToken.unknown();
    if (stored.appStatus !== 'enabled' || stored.userStatus !== 'active')
      throw InvalidToken.unknown();
    if (stored.expiresAt <= this.clock.now()) throw InvalidToken.expired();
    const { userId, clientId, grantId, scope, quota } = stored;
    this.grantUse.record(grantId, this.clock.now());
    const postLimit = this.quota.limitOf(quota);
    return { userId, clientId, grantId, scopes: parseScope(scope), postLimit };
  }
}
