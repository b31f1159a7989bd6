import { Injectable } from '@nestjs/common';
import { DataSource, In } from 'typeorm';
import { insertAll, unchanged, upsertAll } from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { User } from '../../users/user.entity.js';

/** The users of a batch of lines. */
@Injectable()
export class ImportedUsersRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Finds the users with one of these phone numbers or external ids. */
  async find(
    phones: readonly string[],
    externalIds: readonly string[],
    tx?: Transaction,
  ): Promise<User[]> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    const byPhone = await manager.findBy(User, { phone: In(phones) });
    if (externalIds.length === 0) return byPhone;
    const found = new Set(byPhone.map(({ id }) => id));
    const others = await manager.findBy(User, { externalId: In(externalIds) });
    return [...byPhone, ...others.filter(({ id }) => !found.has(id))];
  }

  /** Locks the users with one of these phone numbers or external ids until the transaction ends. */
  async lock(
    tx: Transaction,
    phones: readonly string[],
    externalIds: readonly string[],
  ): Promise<void> {
    const nothing = { status: unchanged('status') };
    await entities(tx).update(User, { phone: In(phones) }, nothing);
    if (externalIds.length > 0)
      await entities(tx).update(User, { externalId: In(externalIds) }, nothing);
  }

  insertAll(tx: Transaction, users: readonly User[]): Promise<void> {
    return insertAll(tx, User, users);
  }

  /** The rows must be locked. */
  async updateAll(tx: Transaction, users: User[]): Promise<void> {
    if (users.length > 0) await upsertAll(tx, User, users);
  }
}
