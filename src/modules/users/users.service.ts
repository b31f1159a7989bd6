import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../audit/audit-log.repository.js';
import { Clock } from '../../common/clock.js';
import { isDuplicateKey } from '../../common/database-faults.js';
import { NotFound } from '../../common/errors.js';
import { newId } from '../../common/ids.js';
import { TransactionRunner, type Transaction } from '../../database/transaction.js';
import type { User } from './user.entity.js';
import { PhoneTaken } from './users.errors.js';
import {
  UsersRepository,
  type Author,
  type Place,
  type Profile,
  type SignInUser,
} from './users.repository.js';

/** What an operator tells about a new user. `phone` is E.164. */
export type NewUser = Pick<User, 'phone' | 'name'> &
  Partial<Pick<User, 'id' | 'photoUrl' | 'neighborhood' | 'latitude' | 'longitude' | 'karma'>>;

/** The network's members, as far as the platform needs them. */
@Injectable()
export class UsersService {
  constructor(
    private readonly repository: UsersRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound when the user is gone */
  async profile(id: string): Promise<Profile> {
    const profile = await this.repository.findProfile(id);
    if (!profile) throw new NotFound('The user does not exist any more.');
    return profile;
  }

  /** Where the user's posts are placed when they come without a location (source document, section 4.2, rule 1). */
  async savedPlace(id: string): Promise<Place> {
    const { latitude, longitude, neighborhood } = (await this.repository.findPlace(id)) ?? NOWHERE;
    return { latitude, longitude, neighborhood };
  }

  /** How many posts the user has that are not deleted. */
  async postCount(id: string): Promise<number> {
    return (await this.repository.findPostCount(id))?.postCount ?? 0;
  }

  /** The authors with these ids, by id. */
  async authors(ids: Iterable<string>): Promise<ReadonlyMap<string, Author>> {
    const wanted = [...new Set(ids)];
    if (wanted.length === 0) return new Map();
    const authors = await this.repository.findAuthors(wanted);
    return new Map(authors.map((author) => [author.id, author]));
  }

  /** The user who may sign in under this id, or null. */
  active(id: string): Promise<SignInUser | null> {
    return this.repository.findActive(id);
  }

  /** The user who may sign in with this phone (E.164), or null. */
  activeByPhone(phone: string): Promise<SignInUser | null> {
    return this.repository.findActiveByPhone(phone);
  }

  /**
   * The phone (E.164) of a user, whether they may sign in or not.
   * @throws NotFound when there is no user with this id
   */
  async phoneOf(id: string): Promise<string> {
    const user = await this.repository.findPhone(id);
    if (!user)
      throw new NotFound(`No user has the id ${id}. "user add" prints the id of a new user.`);
    return user.phone;
  }

  isEmpty(): Promise<boolean> {
    return this.repository.isEmpty();
  }

  countPost(tx: Transaction, id: string, difference: 1 | -1): Promise<void> {
    return this.repository.addToPostCount(tx, id, difference);
  }

  /** @throws PhoneTaken when another user has the phone */
  async add(user: NewUser, change: Change): Promise<User> {
    const now = this.clock.now();
    const added: User = {
      id: newId('usr', now),
      photoUrl: null,
      karma: 0,
      neighborhood: null,
      latitude: null,
      longitude: null,
      ...user,
      status: 'active',
      postCount: 0,
      createdAt: now,
    };
    try {
      await this.transactions.run(async (tx) => {
        await this.repository.insert(tx, added);
        await this.audit.record(tx, 'user.added', added.id, change);
      });
    } catch (error) {
      if (isDuplicateKey(error)) throw new PhoneTaken();
      throw error;
    }
    return added;
  }
}

const NOWHERE: Place = { latitude: null, longitude: null, neighborhood: null };
