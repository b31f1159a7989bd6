import { Injectable } from '@nestjs/common';
import { DataSource, IsNull } from 'typeorm';
import { parseScope, type Scope } from '../../../common/scopes.js';
import { entities, type Transaction } from '../../../database/transaction.js';
import { Grant } from './grant.entity.js';

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

  /** False when it was revoked before. */
  async revoke(tx: Transaction, id: string, now: Date): Promise<boolean> {
    const { affected } = await entities(tx).update(
      Grant,
      { id, revokedAt: IsNull() },
      { revokedAt: now },
    );
    return affected === 1;
  }
}
