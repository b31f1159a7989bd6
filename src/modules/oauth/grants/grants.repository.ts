import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, MoreThan, type EntityManager, type SelectQueryBuilder } from 'typeorm';
import { later, MINUTE } from '../../../common/clock.js';
import { parseScope, type Scope } from '../../../common/scopes.js';
import { storedTime } from '../../../database/columns.js';
import { entities, type Transaction } from '../../../database/transaction.js';
import { App } from '../apps/app.entity.js';
import { Grant } from './grant.entity.js';

/** The live grants of a user to an app that have the same scopes. */
export interface LiveGrants {
  clientId: string;
  name: string;
  scopes: Scope[];
  /** The first of them. */
  grantedAt: Date;
  /** The last use of any of them. */
  lastUsedAt: Date | null;
}

/** A grant that would end. */
export interface LiveGrant {
  id: string;
  clientId: string;
  /** The app's. */
  name: string;
}

@Injectable()
export class GrantsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async insert(tx: Transaction, grant: Grant): Promise<void> {
    await entities(tx).insert(Grant, grant);
  }

  /** What the user allowed this app last time, or null the first time. */
  async findLatestChoice(
    userId: string,
    clientId: string,
  ): Promise<{ granted: Scope[]; requested: Scope[] } | null> {
    const grant = await this.dataSource.manager.findOne(Grant, {
      select: { id: true, scope: true, requestedScope: true },
      where: { userId, clientId, revokedAt: IsNull() },
      order: { id: 'DESC' },
    });
    return (
      grant && {
        granted: parseScope(grant.scope),
        requested: parseScope(grant.requestedScope),
      }
    );
  }

  /**
   * Says that the app uses the grant now, and holds its row until the unit ends: until then nobody revokes it, and nobody
   * else gives out tokens of it. False when it was revoked or has expired.
   */
  async markUsed(tx: Transaction, id: string, now: Date): Promise<boolean> {
    const { affected } = await entities(tx).update(
      Grant,
      { id, revokedAt: IsNull(), expiresAt: MoreThan(now) },
      { lastUsedAt: now },
    );
    return affected === 1;
  }

  /** False when it was revoked before. */
  async revoke(tx: Transaction, id: string, now: Date): Promise<boolean> {
    const { affected } = await entities(tx).update(
      Grant,
      { id, revokedAt: IsNull() },
      { revokedAt: now },
    );
    return affected === 1;
  }

  /** The user's grants that are neither revoked nor expired, to these apps or to all. */
  async findLive(userId: string, now: Date, clientIds?: readonly string[]): Promise<LiveGrants[]> {
    const rows = await this.live(this.dataSource.manager, userId, now, clientIds)
      .select('grant.clientId', 'clientId')
      .addSelect('app.name', 'name')
      .addSelect('grant.scope', 'scope')
      .addSelect('MIN(grant.createdAt)', 'grantedAt')
      .addSelect('MAX(grant.lastUsedAt)', 'lastUsedAt')
      .groupBy('grant.clientId')
      .addGroupBy('app.name')
      .addGroupBy('grant.scope')
      .getRawMany<RawLiveGrants>();
    return rows.map(({ scope, grantedAt, lastUsedAt, ...row }) => ({
      ...row,
      scopes: parseScope(scope),
      grantedAt: storedTime(grantedAt),
      lastUsedAt: lastUsedAt === null ? null : storedTime(lastUsedAt),
    }));
  }

  /** The same one by one, to these apps or to all, in the order in which everybody locks grants. */
  findLiveOneByOne(
    tx: Transaction,
    userId: string,
    now: Date,
    clientIds?: readonly string[],
  ): Promise<LiveGrant[]> {
    return this.live(entities(tx), userId, now, clientIds)
      .select('grant.id', 'id')
      .addSelect('grant.clientId', 'clientId')
      .addSelect('app.name', 'name')
      .orderBy('grant.id')
      .getRawMany<LiveGrant>();
  }

  /** Notes that these grants were used at `at`, where nothing of the minute before is noted. */
  async noteUse(tx: Transaction, ids: readonly string[], at: Date): Promise<void> {
    await entities(tx)
      .createQueryBuilder()
      .update(Grant)
      .set({ lastUsedAt: at })
      .where('id IN (:...ids)', { ids })
      .andWhere('(lastUsedAt IS NULL OR lastUsedAt <= :minuteAgo)', {
        minuteAgo: later(at, -MINUTE),
      })
      .execute();
  }

  private live(
    manager: EntityManager,
    userId: string,
    now: Date,
    clientIds?: readonly string[],
  ): SelectQueryBuilder<Grant> {
    const query = manager
      .createQueryBuilder(Grant, 'grant')
      .innerJoin(App, 'app', 'app.clientId = grant.clientId')
      .where('grant.userId = :userId', { userId })
      .andWhere('grant.revokedAt IS NULL')
      .andWhere('grant.expiresAt > :now', { now });
    return clientIds ? query.andWhere('grant.clientId IN (:...clientIds)', { clientIds }) : query;
  }
}

interface RawLiveGrants extends Omit<LiveGrants, 'scopes' | 'grantedAt' | 'lastUsedAt'> {
  scope: string;
  grantedAt: Date | string;
  lastUsedAt: Date | string | null;
}
