import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, MoreThan } from 'typeorm';
import { storedTime } from '../../../database/columns.js';
import { entities, type Transaction } from '../../../database/transaction.js';
import { AppQuota } from '../../quota/app-quota.entity.js';
import { User } from '../../users/user.entity.js';
import { App } from '../apps/app.entity.js';
import { Grant } from '../grants/grant.entity.js';
import { AccessToken } from './access-token.entity.js';
import { RefreshToken } from './refresh-token.entity.js';

/** Everything that decides whether an access token opens something, from one statement. */
export interface StoredAccess {
  scope: string;
  expiresAt: Date;
  revokedAt: Date | null;
  grantId: string;
  grantRevokedAt: Date | null;
  userId: string;
  userStatus: User['status'];
  clientId: string;
  appStatus: App['status'];
  quota: Pick<AppQuota, 'plan' | 'monthlyPostLimit'> | null;
}

@Injectable()
export class TokensRepository {
  constructor(private readonly dataSource: DataSource) {}

  async insert(tx: Transaction, access: AccessToken, refresh: RefreshToken): Promise<void> {
    await entities(tx).insert(AccessToken, access);
    await entities(tx).insert(RefreshToken, refresh);
  }

  async findAccess(hash: string): Promise<StoredAccess | null> {
    const row = await this.dataSource.manager
      .createQueryBuilder(AccessToken, 'token')
      .innerJoin(Grant, 'grant', 'grant.id = token.grantId')
      .innerJoin(App, 'app', 'app.clientId = grant.clientId')
      .innerJoin(User, 'user', 'user.id = grant.userId')
      .leftJoin(AppQuota, 'quota', 'quota.clientId = grant.clientId')
      .select('token.scope', 'scope')
      .addSelect('token.expiresAt', 'expiresAt')
      .addSelect('token.revokedAt', 'revokedAt')
      .addSelect('grant.id', 'grantId')
      .addSelect('grant.revokedAt', 'grantRevokedAt')
      .addSelect('user.id', 'userId')
      .addSelect('user.status', 'userStatus')
      .addSelect('app.clientId', 'clientId')
      .addSelect('app.status', 'appStatus')
      .addSelect('quota.plan', 'plan')
      .addSelect('quota.monthlyPostLimit', 'monthlyPostLimit')
      .where('token.hash = :hash', { hash })
      .getRawOne<RawAccess>();
    if (!row) return null;
    const { plan, monthlyPostLimit, expiresAt, ...stored } = row;
    return {
      ...stored,
      expiresAt: storedTime(expiresAt),
      quota: plan === null ? null : { plan, monthlyPostLimit },
    };
  }

  async findRefresh(hash: string): Promise<{ token: RefreshToken; grant: Grant } | null> {
    const token = await this.dataSource.manager.findOneBy(RefreshToken, { hash });
    const grant = token && (await this.dataSource.manager.findOneBy(Grant, { id: token.grantId }));
    return token && grant ? { token, grant } : null;
  }

  /** False when it was used or has expired: of two refreshes, one gets the successor (RFC 9700 §4.14.2). */
  async consumeRefresh(tx: Transaction, hash: string, now: Date): Promise<boolean> {
    const { affected } = await entities(tx).update(
      RefreshToken,
      { hash, consumedAt: IsNull(), expiresAt: MoreThan(now) },
      { consumedAt: now },
    );
    return affected === 1;
  }
}

interface RawAccess extends Omit<StoredAccess, 'expiresAt' | 'quota'> {
  expiresAt: Date | string;
  plan: string | null;
  monthlyPostLimit: number | null;
}
