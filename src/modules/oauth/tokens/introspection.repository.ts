import { Injectable } from '@nestjs/common';
import { DataSource, type SelectQueryBuilder } from 'typeorm';
import { storedTime } from '../../../platform/database/columns.js';
import { User } from '../../users/user.entity.js';
import { AccessToken, Grant, RefreshToken } from './token.entities.js';

/** A stored token and what decides whether it is alive. */
export interface TokenState {
  kind: 'access' | 'refresh';
  clientId: string;
  userId: string;
  /** Space-separated: of the access token, or of the grant that a refresh token renews. */
  scope: string;
  createdAt: Date;
  expiresAt: Date;
  /** When it was revoked, or used up by a refresh. */
  endedAt: Date | null;
  grantRevokedAt: Date | null;
  grantExpiresAt: Date;
  userStatus: User['status'];
}

type Raw = Omit<TokenState, 'kind' | 'createdAt' | 'expiresAt' | 'grantExpiresAt'> &
  Record<'createdAt' | 'expiresAt' | 'grantExpiresAt', Date | string>;

/** Reads tokens for introspection: each with one statement. */
@Injectable()
export class IntrospectionRepository {
  constructor(private readonly dataSource: DataSource) {}

  findAccess(hash: string): Promise<TokenState | null> {
    const query = this.dataSource.manager.createQueryBuilder(AccessToken, 'token');
    query.select('token.scope', 'scope').addSelect('token.revokedAt', 'endedAt');
    return this.find('access', query, hash);
  }

  findRefresh(hash: string): Promise<TokenState | null> {
    const query = this.dataSource.manager.createQueryBuilder(RefreshToken, 'token');
    query.select('grant.scope', 'scope').addSelect('token.consumedAt', 'endedAt');
    return this.find('refresh', query, hash);
  }

  private async find(
    kind: TokenState['kind'],
    query: SelectQueryBuilder<AccessToken> | SelectQueryBuilder<RefreshToken>,
    hash: string,
  ): Promise<TokenState | null> {
    const row = await query
      .innerJoin(Grant, 'grant', 'grant.id = token.grantId')
      .innerJoin(User, 'user', 'user.id = grant.userId')
      .addSelect('token.createdAt', 'createdAt')
      .addSelect('token.expiresAt', 'expiresAt')
      .addSelect('grant.clientId', 'clientId')
      .addSelect('grant.revokedAt', 'grantRevokedAt')
      .addSelect('grant.expiresAt', 'grantExpiresAt')
      .addSelect('user.id', 'userId')
      .addSelect('user.status', 'userStatus')
      .where('token.hash = :hash', { hash })
      .getRawOne<Raw>();
    if (!row) return null;
    return {
      ...row,
      kind,
      createdAt: storedTime(row.createdAt),
      expiresAt: storedTime(row.expiresAt),
      grantExpiresAt: storedTime(row.grantExpiresAt),
    };
  }
}
