import { Injectable } from '@nestjs/common';
import { Brackets, DataSource, In, IsNull, Like, MoreThan, Not } from 'typeorm';
import type { Paging } from '../../platform/database/list-page.js';
import { insertRow } from '../../platform/database/sql.js';
import { BatchLoader } from '../../platform/database/batch-loader.js';
import { entities, type Transaction } from '../../platform/database/transaction.js';
import { parsePhone } from './phone-number.js';
import { User } from './user.entity.js';

export type UserProfile = Pick<
  User,
  'id' | 'name' | 'photoUrl' | 'karma' | 'neighborhood' | 'postCount'
>;
/** `phone` is E.164. */
export type SignInUser = Pick<User, 'id' | 'name' | 'photoUrl' | 'testCodeHash'> & {
  phone: string;
};

/** A user matches if one of the members does. */
export interface UserMatch {
  externalId: string;
  /** A part of the name, in upper or lower case. */
  namePart: string;
  /** The last digits of the phone number. */
  phoneEnd?: string;
}

const BATCH_SIZE = 1000;
/** An escape character that means the same on every engine. */
const ESCAPE = '!';
const FIND_PROFILE = `
  SELECT id, name, photo_url AS photoUrl, karma, neighborhood, post_count AS postCount
  FROM users WHERE`;

@Injectable()
export class UsersRepository {
  private readonly profiles: BatchLoader<UserProfile>;

  constructor(private readonly dataSource: DataSource) {
    this.profiles = new BatchLoader(dataSource, FIND_PROFILE, { id: 'id' });
  }

  /** Finds a user of any status. Batches concurrent lookups. */
  findProfile(id: string): Promise<UserProfile | undefined> {
    return this.profiles.find(id);
  }

  findById(id: string): Promise<User | null> {
    return this.dataSource.manager.findOneBy(User, { id });
  }

  findByPhone(phone: string): Promise<User | null> {
    return this.dataSource.manager.findOneBy(User, { phone });
  }

  /**
   * Finds the user with this number, else a user whose number is parsed as it: 1.1 stored numbers that were typed with two trunk
   * prefixes with one of them. Without a match, reads all users.
   */
  async findByPhoneAsParsed(phone: string): Promise<User | null> {
    const user = await this.findByPhone(phone);
    if (user) return user;
    const similar = await this.dataSource.manager.findBy(User, {
      phone: Like(`%${phone.slice(-4)}`),
    });
    return similar.find((other) => parsePhone(other.phone ?? '') === phone) ?? null;
  }

  /** The ids of the users whose number is parsed as another or as none, so that they cannot sign in. Reads all users, in batches. */
  async *findIdsWithMisparsedPhone(): AsyncGenerator<string> {
    for (let last = ''; ;) {
      const users = await this.dataSource.manager.find(User, {
        select: { id: true, phone: true },
        where: { id: MoreThan(last), phone: Not(IsNull()) },
        order: { id: 'ASC' },
        take: BATCH_SIZE,
      });
      for (const { id, phone } of users) if (phone && parsePhone(phone) !== phone) yield id;
      if (users.length < BATCH_SIZE) return;
      last = users.at(-1)?.id ?? '';
    }
  }

  findTestMembers(): Promise<User[]> {
    return this.dataSource.manager.findBy(User, { testCodeHash: Not(IsNull()) });
  }

  findByExternalId(externalId: string): Promise<User | null> {
    return this.dataSource.manager.findOneBy(User, { externalId });
  }

  /**
   * Finds users of any status, newest first, and one more than `limit` if there are more. Reads from the newest user on by the
   * primary key, with `match` until enough users match.
   */
  findNewest({ limit, before }: Omit<Paging, 'page'>, match?: UserMatch): Promise<User[]> {
    const query = this.dataSource.manager
      .createQueryBuilder(User, 'person')
      .orderBy('person.id', 'DESC')
      .limit(limit + 1);
    if (before !== undefined) query.andWhere('person.id < :before', { before });
    if (match) query.andWhere(matching(match));
    return query.getMany();
  }

  /** Finds an active user who has a phone number, and so can sign in. */
  async findActive(
    key: { id: string } | { phone: string },
    tx?: Transaction,
  ): Promise<SignInUser | null> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    const select = { id: true, name: true, phone: true, photoUrl: true, testCodeHash: true };
    const user = await manager.findOne(User, { select, where: { ...key, status: 'active' } });
    if (!user?.phone) return null;
    const { id, name, phone, photoUrl, testCodeHash } = user;
    return { id, name, phone, photoUrl, testCodeHash };
  }

  async isEmpty(): Promise<boolean> {
    return !(await this.dataSource.manager.existsBy(User, {}));
  }

  hasOthers(ids: readonly string[]): Promise<boolean> {
    return this.dataSource.manager.existsBy(User, { id: Not(In(ids)) });
  }

  /** Returns false if the user has another number. */
  async removePhone(tx: Transaction, id: string, phone: string): Promise<boolean> {
    const { affected } = await entities(tx).update(User, { id, phone }, { phone: null });
    return affected === 1;
  }

  async update(tx: Transaction, id: string, values: Partial<User>): Promise<void> {
    await entities(tx).update(User, { id }, values);
  }

  insert(tx: Transaction, user: User): Promise<void> {
    return insertRow(tx, User, user);
  }

  /** Returns false if the user already has this status, or does not exist. */
  async changeStatus(tx: Transaction, id: string, status: User['status']): Promise<boolean> {
    const { affected } = await entities(tx).update(User, { id, status: Not(status) }, { status });
    return affected === 1;
  }
}

function matching({ externalId, namePart, phoneEnd }: UserMatch): Brackets {
  return new Brackets((query) => {
    const pattern = `%${escapeWildcards(namePart)}%`;
    query
      .where('person.externalId = :externalId', { externalId })
      .orWhere(`LOWER(person.name) LIKE LOWER(:pattern) ESCAPE '${ESCAPE}'`, { pattern });
    if (phoneEnd !== undefined)
      query.orWhere('person.phone LIKE :phonePattern', { phonePattern: `%${phoneEnd}` });
  });
}

function escapeWildcards(text: string): string {
  return text.replaceAll(/[!%_]/g, `${ESCAPE}$&`);
}
