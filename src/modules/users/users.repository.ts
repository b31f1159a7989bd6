import { Injectable } from '@nestjs/common';
import { DataSource, In, Not } from 'typeorm';
import { insertAll } from '../../database/insert-all.js';
import { entities, type Transaction } from '../../database/transaction.js';
import { unchanged } from '../../database/unchanged.js';
import { upsertAll } from '../../database/upsert.js';
import { User } from './user.entity.js';

export type Profile = Pick<User, 'id' | 'name' | 'photoUrl' | 'karma' | 'neighborhood'>;
export type Author = Pick<User, 'id' | 'name' | 'photoUrl'>;
export type Place = Pick<User, 'latitude' | 'longitude' | 'neighborhood'>;
export type SignInUser = Pick<User, 'id' | 'name' | 'phone'>;

@Injectable()
export class UsersRepository {
  constructor(private readonly dataSource: DataSource) {}

  findProfile(id: string): Promise<Profile | null> {
    return this.find(id, ['id', 'name', 'photoUrl', 'karma', 'neighborhood']);
  }

  findPlace(id: string): Promise<Place | null> {
    return this.find(id, ['id', 'latitude', 'longitude', 'neighborhood']);
  }

  findPostCount(id: string): Promise<Pick<User, 'postCount'> | null> {
    return this.find(id, ['id', 'postCount']);
  }

  findById(id: string): Promise<User | null> {
    return this.dataSource.manager.findOneBy(User, { id });
  }

  findByPhone(phone: string): Promise<User | null> {
    return this.dataSource.manager.findOneBy(User, { phone });
  }

  findAuthors(ids: string[]): Promise<Author[]> {
    return this.dataSource.manager.find(User, {
      select: { id: true, name: true, photoUrl: true },
      where: { id: In(ids) },
    });
  }

  findActive(id: string): Promise<SignInUser | null> {
    return this.dataSource.manager.findOne(User, {
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
    await entities(tx)
      .createQueryBuilder()
      .insert()
      .into(User)
      .values(user)
      .updateEntity(false)
      .execute();
  }

  /** False when there is no such user (any more). */
  async countPost(tx: Transaction, user: Partial<Pick<User, 'id' | 'status'>>): Promise<boolean> {
    const { affected } = await entities(tx).increment(User, user, 'postCount', 1);
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

  private find(id: string, fields: (keyof User)[]): Promise<User | null> {
    return this.dataSource.manager
      .createQueryBuilder(User, 'user')
      .select(fields.map((field) => `user.${field}`))
      .where({ id })
      .getOne();
  }
}
