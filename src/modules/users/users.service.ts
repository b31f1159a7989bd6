import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../platform/audit/audit-log.repository.js';
import { Clock } from '../../platform/clock.js';
import { isDuplicateKey } from '../../platform/database/errors.js';
import { type Transaction, TransactionRunner } from '../../platform/database/transaction.js';
import { InvalidRequest, NotFound } from '../../platform/errors.js';
import { isId, newId } from '../../platform/ids.js';
import type { User } from './user.entity.js';
import { type Member, type SignInUser, UsersRepository } from './users.repository.js';

export class PhoneTaken extends InvalidRequest {
  constructor() {
    super('A user with this phone number exists already.');
  }
}

export class UnknownUser extends NotFound {
  constructor(id: string) {
    super(`No user has the id ${id}. "user show --phone" finds it by the phone number.`);
  }
}

type Author = Pick<Member, 'id' | 'name' | 'photoUrl'>;
type Location = Pick<Member, 'latitude' | 'longitude' | 'neighborhood'>;

/** `phone` is E.164. */
export type NewUser = Pick<User, 'phone' | 'name'> &
  Partial<Pick<User, 'id' | 'photoUrl' | 'neighborhood' | 'latitude' | 'longitude' | 'karma'>>;

/** Fills in the initial values of a user. */
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

/** Phone numbers are E.164. */
@Injectable()
export class UsersService {
  constructor(
    private readonly repository: UsersRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound if the user no longer exists */
  async profile(id: string): Promise<Member> {
    const member = await this.repository.findMember(id);
    if (!member) throw new NotFound('The user does not exist any more.');
    return member;
  }

  /** The location of the user's posts that have none of their own (source document, section 4.2, rule 1). */
  async savedLocation(id: string): Promise<Location> {
    const member = await this.repository.findMember(id);
    const { latitude = null, longitude = null, neighborhood = null } = member ?? {};
    return { latitude, longitude, neighborhood };
  }

  /** The number of the user's posts that are not deleted. */
  async postCount(id: string): Promise<number> {
    return (await this.repository.findMember(id))?.postCount ?? 0;
  }

  async author(id: string): Promise<Author | null> {
    const member = await this.repository.findMember(id);
    return member ? { id, name: member.name, photoUrl: member.photoUrl } : null;
  }

  /** Null if the user is blocked or does not exist. */
  active(id: string, tx?: Transaction): Promise<SignInUser | null> {
    return this.repository.findActive({ id }, tx);
  }

  /** Null if the user is blocked or does not exist. */
  activeByPhone(phone: string): Promise<SignInUser | null> {
    return this.repository.findActive({ phone });
  }

  /** A user of any status. @throws UnknownUser */
  async show(id: string): Promise<User> {
    const user = isId('usr', id) ? await this.repository.findById(id) : null;
    if (!user) throw new UnknownUser(id);
    return user;
  }

  /** A user of any status. @throws NotFound */
  async showByPhone(phone: string): Promise<User> {
    const user = await this.repository.findByPhone(phone);
    if (!user) throw new NotFound('No user has this phone number.');
    return user;
  }

  /** The phone of a user of any status. @throws UnknownUser */
  async phoneOf(id: string): Promise<string> {
    return (await this.show(id)).phone;
  }

  /** Takes effect with the next request, because every token and sign-in checks the status. @throws UnknownUser */
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

  /** The same inside the caller's transaction. False if the user already has this status, or does not exist. */
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
   * Counts a new post for each of these users, and locks their rows until the transaction ends. False if a user was blocked or
   * erased in the meantime: then the posts must not be published.
   */
  countPosts(tx: Transaction, ids: readonly string[]): Promise<boolean> {
    return this.repository.countPosts(tx, ids);
  }

  /** Also for a blocked user. False if the user was erased. */
  countRestoredPost(tx: Transaction, id: string): Promise<boolean> {
    return this.repository.countRestoredPost(tx, id);
  }

  uncountPost(tx: Transaction, id: string): Promise<void> {
    return this.repository.uncountPost(tx, id);
  }

  /** @throws PhoneTaken */
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
