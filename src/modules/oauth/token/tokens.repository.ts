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

/** A refresh token with its grant and user, from one statement. Whether the grant is alive is asked under its lock. */
export interface StoredRefresh {
  hash: string;
  consumedAt: Date | null;
  predecessorHash: string | null;
  grantId: string;
  clientId: string;
  /** Of the grant. */
  scope: string;
  grantExpiresAt: Date;
  userId: string;
  userStatus: User['status'];
}

export interface RefreshUse {
  consumedAt: Date;
  sealedAnswer: string | null;
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

  /** False when it was revoked before. */
  async revokeAccess(tx: Transaction, hash: string, now: Date): Promise<boolean> {
    const { affected } = await entities(tx).update(
      AccessToken,
      { hash, revokedAt: IsNull() },
      { revokedAt: now },
    );
    return affected === 1;
  }

  async findRefresh(hash: string): Promise<StoredRefresh | null> {
    const row = await this.dataSource.manager
      .createQueryBuilder(RefreshToken, 'token')
      .innerJoin(Grant, 'grant', 'grant.id = token.grantId')
      .innerJoin(User, 'user', 'user.id = grant.userId')
      .select('token.hash', 'hash')
      .addSelect('token.consumedAt', 'consumedAt')
      .addSelect('token.predecessorHash', 'predecessorHash')
      .addSelect('grant.id', 'grantId')
      .addSelect('grant.clientId', 'clientId')
      .addSelect('grant.scope', 'scope')
      .addSelect('grant.expiresAt', 'grantExpiresAt')
      .addSelect('user.id', 'userId')
      .addSelect('user.status', 'userStatus')
      .where('token.hash = :hash', { hash })
      .getRawOne<RawRefresh>();
    if (!row) return null;
    const { consumedAt, grantExpiresAt } = row;
    return {
      ...row,
      consumedAt: consumedAt === null ? null : storedTime(consumedAt),
      grantExpiresAt: storedTime(grantExpiresAt),
    };
  }

  /** When a refresh token was used, and its answer; null when it was not. */
  async findUse(tx: Transaction, hash: string): Promise<RefreshUse | null> {
    const token = await entities(tx).findOne(RefreshToken, {
      select: { hash: true, consumedAt: true, sealedAnswer: true },
      where: { hash },
    });
    if (!token?.consumedAt) return null;
    return { consumedAt: token.consumedAt, sealedAnswer: token.sealedAnswer };
  }

  /** False when it was used or has expired: of two refreshes, one gets the successor (RFC 9700 §4.14.2). */
  async consumeRefresh(
    tx: Transaction,
    hash: string,
    sealedAnswer: string,
    now: Date,
  ): Promise<boolean> {
    const { affected } = await entities(tx).update(
      RefreshToken,
      { hash, consumedAt: IsNull(), expiresAt: MoreThan(now) },
      { consumedAt: now, sealedAnswer },
    );
    return affected === 1;
  }

  /** From now on, who comes back with this used token gets no answer any more. */
  async forgetAnswer(tx: Transaction, hash: string): Promise<void> {
    await entities(tx).update(RefreshToken, { hash }, { sealedAnswer: null });
  }
}

interface RawAccess extends Omit<StoredAccess, 'expiresAt' | 'quota'> {
  expiresAt: Date | string;
  plan: string | null;
  monthlyPostLimit: number | null;
}

interface RawRefresh extends Omit<StoredRefresh, 'consumedAt' | 'grantExpiresAt'> {
  consumedAt: Date | string | null;
  grantExpiresAt: Date | string;
}
