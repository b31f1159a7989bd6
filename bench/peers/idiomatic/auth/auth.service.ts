import { createHash } from 'node:crypto';
import { Injectable, UnauthorizedException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { Caller } from './caller.js';
import { AccessToken } from './entities/access-token.entity.js';
import { GrantUseService } from './grant-use.service.js';

@Injectable()
export class AuthService {
  constructor(
    @InjectRepository(AccessToken) private readonly tokens: Repository<AccessToken>,
    private readonly grantUse: GrantUseService,
  ) {}

  /** The user, app and scopes of an access token. @throws UnauthorizedException if it is invalid */
  async authenticate(token: string): Promise<Caller> {
    const found = await this.tokens.findOne({
      where: { hash: createHash('sha256').update(token).digest('hex') },
      relations: { grant: { user: true, app: { quota: true } } },
    });
    if (!found) throw new UnauthorizedException('The access token is unknown.');
    const { grant, scope } = found;
    const { user, app } = grant;
    if (found.revokedAt || grant.revokedAt)
      throw new UnauthorizedException('The access token was revoked.');
    if (app.status !== 'enabled' || user.status !== 'active')
      throw new UnauthorizedException('The access token was revoked.');
    if (found.expiresAt <= new Date()) throw new UnauthorizedException('The access token expired.');
    this.grantUse.markUsed(grant.id);
    return { user, app, scopes: scope.split(' ') };
  }
}
