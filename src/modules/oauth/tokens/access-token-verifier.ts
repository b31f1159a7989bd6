import { Injectable } from '@nestjs/common';
import { type Access, AccessTokenVerifier } from '../../../platform/access/caller.js';
import { InvalidToken } from '../../../platform/access/access.errors.js';
import { Clock } from '../../../platform/clock.js';
import { parseScope } from '../../../platform/access/scopes.js';
import { isSecret, sha256 } from '../../../platform/secrets.js';
import { QuotaService } from '../../quota/quota.service.js';
import { GrantUse } from './grant-use.js';
import { TokensRepository } from './tokens.repository.js';

/** Looks an access token up by its hash: one indexed statement, no write, and nothing is cached, so revoking acts at once. */
@Injectable()
export class StoredAccessTokenVerifier extends AccessTokenVerifier {
  constructor(
    private readonly tokens: TokensRepository,
    private readonly quota: QuotaService,
    private readonly use: GrantUse,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async verify(token: string): Promise<Access> {
    if (!isSecret('svcat', token)) throw InvalidToken.malformed();
    const stored = await this.tokens.findAccess(sha256(token));
    if (!stored || stored.revokedAt || stored.grantRevokedAt) throw InvalidToken.unknown();
    if (stored.appStatus !== 'enabled' || stored.userStatus !== 'active')
      throw InvalidToken.unknown();
    if (stored.expiresAt <= this.clock.now()) throw InvalidToken.expired();
    const { userId, clientId, grantId, scope, quota } = stored;
    this.use.note(grantId, this.clock.now());
    return {
      userId,
      clientId,
      grantId,
      scopes: parseScope(scope),
      postLimit: this.quota.limitOf(quota),
    };
  }
}
