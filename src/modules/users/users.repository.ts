import { Injectable } from '@nestjs/common';
import { DataSource, In } from 'typeorm';
import { entities, type Transaction } from '../../database/transaction.js';
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

  findPhone(id: string): Promise<Pick<User, 'phone'> | null> {
    return this.find(id, ['id', 'phone']);
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

  async insert(tx: Transaction, user: User): Promise<void> {
    await entities(tx)
      .createQueryBuilder()
      .insert()
      .into(User)
      .values(user)
      .updateEntity(false)
      .execute();
  }

  async addToPostCount(tx: Transaction, id: string, difference: 1 | -1): Promise<void> {
    await entities(tx).increment(User, { id }, 'postCount', difference);
  }

  private find(id: string, fields: (keyof User)[]): Promise<User | null> {
    return this.dataSource.manager
      .createQueryBuilder(User, 'user')
      .select(fields.map((field) => `user.${field}`))
      .where({ id })
      .getOne();
  }
}
