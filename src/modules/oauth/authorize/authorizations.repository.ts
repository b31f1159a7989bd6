import { Injectable } from '@nestjs/common';
import { DataSource, IsNull } from 'typeorm';
import { insertRow } from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { Authorization } from './authorization.entity.js';

@Injectable()
export class AuthorizationsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async insert(tx: Transaction, authorization: Authorization): Promise<void> {
    await insertRow(tx, Authorization, authorization);
  }

  find(id: string): Promise<Authorization | null> {
    return this.dataSource.manager.findOneBy(Authorization, { id });
  }

  async assignUser(tx: Transaction, id: string, userId: string | null): Promise<void> {
    await entities(tx).update(Authorization, { id, decidedAt: IsNull() }, { userId });
  }

  /** Returns false if the authorization request was already decided. */
  async markDecided(tx: Transaction, id: string, now: Date): Promise<boolean> {
    const where = { id, decidedAt: IsNull() };
    const { affected } = await entities(tx).update(Authorization, where, { decidedAt: now });
    return affected === 1;
  }

  /** Deletes the authorization requests of a user and returns their number. */
  async deleteForUser(tx: Transaction, userId: string): Promise<number> {
    const { affected } = await entities(tx).delete(Authorization, { userId });
    return affected ?? 0;
  }
}
