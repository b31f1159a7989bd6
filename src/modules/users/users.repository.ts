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

export type Profile = Pick<User, 'id' | 'name' | 'photoUrl' | 'karma' | 'neighborhood'>;
export type Author = Pick<User, 'id' | 'name' | 'photoUrl'>;
export type Place = Pick<User, 'latitude' | 'longitude' | 'neighborhood'>;
export type SignInUser = Pick<User, 'id' | 'name' | 'phone'>;

const FIND_PROFILE = 'SELECT id, name, photo_url AS photoUrl, karma, neighborhood FROM users WHERE';
const FIND_PLACE = 'SELECT id, latitude, longitude, neighborhood FROM users WHERE';
const FIND_POST_COUNT = 'SELECT id, post_count AS postCount FROM users WHERE';
const COUNT_POST = "UPDATE users SET post_count = post_count + 1 WHERE status = 'active' AND id IN";

@Injectable()
export class UsersRepository {
  private readonly profiles: BatchLoader<Profile>;
  private readonly places: BatchLoader<Place>;
  private readonly postCounts: BatchLoader<Pick<User, 'postCount'>>;

  constructor(private readonly dataSource: DataSource) {
    this.profiles = new BatchLoader(dataSource, FIND_PROFILE, { id: 'id' });
    this.places = new BatchLoader(dataSource, FIND_PLACE, { id: 'id' });
    this.postCounts = new BatchLoader(dataSource, FIND_POST_COUNT, { id: 'id' });
  }

  async findProfile(id: string): Promise<Profile | null> {
    return (await this.profiles.find(id)) ?? null;
  }

  async findPlace(id: string): Promise<Place | null> {
    return (await this.places.find(id)) ?? null;
  }

  /** Null when there is no such user. */
  async findPostCount(id: string): Promise<number | null> {
    return (await this.postCounts.find(id))?.postCount ?? null;
  }

  findAuthor(id: string): Promise<Author | null> {
    return this.dataSource.manager.findOne(User, {
      select: { id: true, name: true, photoUrl: true },
      where: { id },
    });
  }

  findById(id: string): Promise<User | null> {
    return this.dataSource.manager.findOneBy(User, { id });
  }

  findByPhone(phone: string): Promise<User | null> {
    return this.dataSource.manager.findOneBy(User, { phone });
  }

  findActive(id: string, tx?: Transaction): Promise<SignInUser | null> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    return manager.findOne(User, {
      select: { id: true, name: true, phone: true },
      where: { id, status: 'active' },
    });
  }

  findActiveByPhone(phone: string): Promise<SignInUser | null> {
    return this.dataSource.manager.findOne(User, {
      select: { id: true, name: true, phone: true },
      where: { phone, status: 'active' },
    });
  }

  async isEmpty(): Promise<boolean> {
    return !(await this.dataSource.manager.existsBy(User, {}));
  }

  findByPhones(phones: readonly string[], tx?: Transaction): Promise<User[]> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    return manager.find(User, { where: { phone: In(phones) } });
  }

  /** The users with these phones, whom nobody else changes until this transaction ends. */
  async holdByPhones(tx: Transaction, phones: readonly string[]): Promise<User[]> {
    await entities(tx).update(User, { phone: In(phones) }, { status: unchanged('status') });
    return this.findByPhones(phones, tx);
  }

  /** Writes users back who are held. */
  async updateAll(tx: Transaction, users: User[]): Promise<void> {
    if (users.length > 0) await upsertAll(tx, User, users);
  }

  insertAll(tx: Transaction, users: readonly User[]): Promise<void> {
    return insertAll(tx, User, users);
  }

  async insert(tx: Transaction, user: User): Promise<void> {
    await insertRow(tx, User, user);
  }

  /** One post of each of these users. False when one of them is not active (any more), or counted twice. */
  async countPosts(tx: Transaction, ids: readonly string[]): Promise<boolean> {
    return (await writeRows(tx, `${COUNT_POST} ${placeholdersFor(ids)}`, ids)) === ids.length;
  }

  /** The same of a user whatever their status. */
  async countRestoredPost(tx: Transaction, id: string): Promise<boolean> {
    const { affected } = await entities(tx).increment(User, { id }, 'postCount', 1);
    return affected === 1;
  }

  async uncountPost(tx: Transaction, id: string): Promise<void> {
    await entities(tx).decrement(User, { id }, 'postCount', 1);
  }

  /** False when the user has this status already, or is gone. */
  async changeStatus(tx: Transaction, id: string, status: User['status']): Promise<boolean> {
    const { affected } = await entities(tx).update(User, { id, status: Not(status) }, { status });
    return affected === 1;
  }
}
