import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../platform/audit/audit-log.repository.js';
import { Clock } from '../../platform/clock.js';
import { isDuplicateKey } from '../../platform/database/errors.js';
import { type Transaction, TransactionRunner } from '../../platform/database/transaction.js';
import { InvalidRequest, NotFound } from '../../platform/errors.js';
import { isId, newId } from '../../platform/ids.js';
import type { User } from './user.entity.js';
import {
  type Author,
  type Place,
  type Profile,
  type SignInUser,
  UsersRepository,
} from './users.repository.js';

export class PhoneTaken extends InvalidRequest {
  constructor() {
    super('A user with this phone number exists already.');
  }
}

/** No user has this id. */
export class UnknownUser extends NotFound {
  constructor(id: string) {
    super(`No user has the id ${id}. "user show --phone" finds it by the phone number.`);
  }
}

/** What an operator tells about a new user. `phone` is E.164. */
export type NewUser = Pick<User, 'phone' | 'name'> &
  Partial<Pick<User, 'id' | 'photoUrl' | 'neighborhood' | 'latitude' | 'longitude' | 'karma'>>;

/** A user as they begin. */
export function newUser(user: NewUser, now: Date): User {
  return {
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
}

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
    return (await this.repository.findPostCount(id)) ?? 0;
  }

  /** What readers see of who wrote something; null when they are gone. */
  author(id: string): Promise<Author | null> {
    return this.repository.findAuthor(id);
  }

  /** The user who may sign in under this id, or null; as a part of a larger unit with `tx`. */
  active(id: string, tx?: Transaction): Promise<SignInUser | null> {
    return this.repository.findActive(id, tx);
  }

  /** The user who may sign in with this phone (E.164), or null. */
  activeByPhone(phone: string): Promise<SignInUser | null> {
    return this.repository.findActiveByPhone(phone);
  }

  /** A user, whether they may sign in or not. @throws UnknownUser */
  async show(id: string): Promise<User> {
    const user = isId('usr', id) ? await this.repository.findById(id) : null;
    if (!user) throw new UnknownUser(id);
    return user;
  }

  /** The same by phone (E.164). @throws NotFound when nobody has it */
  async showByPhone(phone: string): Promise<User> {
    const user = await this.repository.findByPhone(phone);
    if (!user) throw new NotFound('No user has this phone number.');
    return user;
  }

  /** The phone (E.164) of a user, whether they may sign in or not. @throws UnknownUser */
  async phoneOf(id: string): Promise<string> {
    return (await this.show(id)).phone;
  }

  /** Takes effect with the next call: every token and sign-in asks for the user's status. @throws UnknownUser */
  async changeStatus(
    id: string,
    status: User['status'],
    change: Change,
  ): Promise<{ user: User; changedNow: boolean }> {
    const user = await this.show(id);
    const changedNow = await this.transactions.run((tx) =>
      this.changeStatusIn(tx, id, status, change),
    );
    return { user: Object.assign(user, { status }), changedNow };
  }

  /** The same as a part of a larger unit. False when the user has this status already, or is gone. */
  async changeStatusIn(
    tx: Transaction,
    id: string,
    status: User['status'],
    change: Change,
  ): Promise<boolean> {
    if (!(await this.repository.changeStatus(tx, id, status))) return false;
    const action = status === 'blocked' ? 'user.blocked' : 'user.unblocked';
    await this.audit.record(tx, action, id, change);
    return true;
  }

  isEmpty(): Promise<boolean> {
    return this.repository.isEmpty();
  }

  /**
   * Counts a post of each of these users that is being published, and holds the users until the unit ends. False when one of
   * them was blocked or erased since the call began: then the posts must not be published.
   */
  countPosts(tx: Transaction, ids: readonly string[]): Promise<boolean> {
    return this.repository.countPosts(tx, ids);
  }

  /** Counts a post that is brought back, also of a user who is blocked. False when the user was erased. */
  countRestoredPost(tx: Transaction, id: string): Promise<boolean> {
    return this.repository.countRestoredPost(tx, id);
  }

  uncountPost(tx: Transaction, id: string): Promise<void> {
    return this.repository.uncountPost(tx, id);
  }

  /** @throws PhoneTaken when another user has the phone */
  async add(user: NewUser, change: Change): Promise<User> {
    const added = newUser(user, this.clock.now());
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
