import { Injectable } from '@nestjs/common';
import { InvalidToken } from '../../../platform/access/access.errors.js';
import { type Access, AccessTokenVerifier } from '../../../platform/access/caller.js';
import { Clock } from '../../../platform/clock.js';
import { hasSecretFormat, sha256 } from '../../../platform/secrets.js';
import { QuotaService } from '../../quota/quota.service.js';
import { GrantUsageRecorder } from './grant-usage-recorder.js';
import { TokensRepository } from './tokens.repository.js';

/**
 * Looks up access tokens by hash, with one indexed query. There is no cache, so that a revocation, a withdrawn scope and a change of
 * the app take effect at once. The last use
 * of the grant is recorded later, in the background.
 */
@Injectable()
export class DatabaseAccessTokenVerifier extends AccessTokenVerifier {
  constructor(
    private readonly tokens: TokensRepository,
    private readonly quota: QuotaService,
    private readonly grantUsage: GrantUsageRecorder,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async verify(token: string): Promise<Access> {
    if (!hasSecretFormat('svcat', token)) throw InvalidToken.malformed();
    const stored = await this.tokens.findAccessToken(sha256(token));
    if (!stored || stored.isRevoked) throw InvalidToken.unknown();
    if (stored.appStatus !== 'enabled' || stored.userStatus !== 'active')
      throw InvalidToken.unknown();
    if (stored.expiresAt <= this.clock.now()) throw InvalidToken.expired();
    const { userId, clientId, grantId, scopes, quota } = stored;
    this.grantUsage.record(grantId, this.clock.now());
    const postLimit = this.quota.limitOf(quota);
    return { userId, clientId, grantId, scopes, postLimit };
  }
}
