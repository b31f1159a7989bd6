import { Injectable } from '@nestjs/common';
import { DataSource, In, Not } from 'typeorm';
import {
  insertAll,
  insertRow,
  placeholdersFor,
  unchanged,
  upsertAll,
  writeRows,
} from '../../platform/database/sql.js';
import { BatchLoader } from '../../platform/database/batch-loader.js';
import { entities, type Transaction } from '../../platform/database/transaction.js';
import { User } from './user.entity.js';

export type Member = Omit<User, 'status' | 'phone' | 'createdAt'>;
export type SignInUser = Pick<User, 'id' | 'name' | 'phone'>;

const FIND_MEMBER = `
  SELECT id, name, photo_url AS photoUrl, karma, neighborhood, latitude, longitude, post_count AS postCount
  FROM users WHERE`;
const COUNT_POST = "UPDATE users SET post_count = post_count + 1 WHERE status = 'active' AND id IN";

@Injectable()
export class UsersRepository {
  private readonly members: BatchLoader<Member>;

  constructor(private readonly dataSource: DataSource) {
    this.members = new BatchLoader(dataSource, FIND_MEMBER, { id: 'id' });
  }

  /** A user of any status, without the fields for sign-in. Batches concurrent lookups. */
  findMember(id: string): Promise<Member | undefined> {
    return this.members.find(id);
  }

  findById(id: string): Promise<User | null> {
    return this.dataSource.manager.findOneBy(User, { id });
  }

  findByPhone(phone: string): Promise<User | null> {
    return this.dataSource.manager.findOneBy(User, { phone });
  }

  findActive(
    key: { id: string } | { phone: string },
    tx?: Transaction,
  ): Promise<SignInUser | null> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    const select = { id: true, name: true, phone: true };
    return manager.findOne(User, { select, where: { ...key, status: 'active' } });
  }

  async isEmpty(): Promise<boolean> {
    return !(await this.dataSource.manager.existsBy(User, {}));
  }

  findByPhones(phones: readonly string[], tx?: Transaction): Promise<User[]> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    return manager.find(User, { where: { phone: In(phones) } });
  }

  /** Finds the users with these phones, and locks their rows until the end of the transaction. */
  async lockByPhones(tx: Transaction, phones: readonly string[]): Promise<User[]> {
    await entities(tx).update(User, { phone: In(phones) }, { status: unchanged('status') });
    return this.findByPhones(phones, tx);
  }

  /** The rows must be locked. */
  async updateAll(tx: Transaction, users: User[]): Promise<void> {
    if (users.length > 0) await upsertAll(tx, User, users);
  }

  insertAll(tx: Transaction, users: readonly User[]): Promise<void> {
    return insertAll(tx, User, users);
  }

  insert(tx: Transaction, user: User): Promise<void> {
    return insertRow(tx, User, user);
  }

  /** Adds one post to each user. False if a user is not active, or is listed twice. */
  async countPosts(tx: Transaction, ids: readonly string[]): Promise<boolean> {
    return (await writeRows(tx, `${COUNT_POST} ${placeholdersFor(ids)}`, ids)) === ids.length;
  }

  /** Also for a user who is not active. False if there is no such user. */
  async countRestoredPost(tx: Transaction, id: string): Promise<boolean> {
    const { affected } = await entities(tx).increment(User, { id }, 'postCount', 1);
    return affected === 1;
  }

  async uncountPost(tx: Transaction, id: string): Promise<void> {
    await entities(tx).decrement(User, { id }, 'postCount', 1);
  }

  /** False if the user already has this status, or does not exist. */
  async changeStatus(tx: Transaction, id: string, status: User['status']): Promise<boolean> {
    const { affected } = await entities(tx).update(User, { id, status: Not(status) }, { status });
    return affected === 1;
  }
}
