import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../platform/audit/audit-log.repository.js';
import { Clock } from '../../platform/clock.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { isDuplicateKey } from '../../platform/database/errors.js';
import { type Transaction, TransactionRunner } from '../../platform/database/transaction.js';
import { InvalidRequest, NotFound } from '../../platform/errors.js';
import { isId, newId, idPattern } from '../../platform/ids.js';
import type { User } from './user.entity.js';
import {
  type UserProfile,
  type SignInUser,
  UsersRepository,
  type UserMatch,
} from './users.repository.js';
import { type Paging, type Part, partOf } from '../../platform/database/list-page.js';
import { parsePhone } from './phone-number.js';
import { checkTestPhone, isTestUser, testCodeHash, type TestMember } from './test-members.js';

export class PhoneTaken extends InvalidRequest {
  constructor(ownerId: string) {
    super(
      `${ownerId} already has this phone number. If the number belongs to another person now, use "user change-phone" with --reassign.`,
    );
  }
}

export class ExternalIdTaken extends InvalidRequest {
  constructor(ownerId: string) {
    super(`${ownerId} already has this external id.`);
  }
}

export class UnknownUser extends NotFound {
  constructor(id: string) {
    super(`No user has the id ${id}. Find the id with "user search".`);
  }
}

type Author = Pick<UserProfile, 'id' | 'name' | 'photoUrl'>;

/** `phone` is E.164. */
export interface UserWithPhone extends User {
  phone: string;
}

export type NewUser = Pick<UserWithPhone, 'phone' | 'name'> &
  Partial<
    Pick<
      User,
      'id' | 'externalId' | 'photoUrl' | 'neighborhood' | 'latitude' | 'longitude' | 'karma'
    >
  >;

/** Builds an active user who is no test member, with default values for absent fields. */
export function newUser(user: NewUser, now: Date): UserWithPhone {
  return {
    id: newId('usr', now),
    externalId: null,
    photoUrl: null,
    karma: 0,
    neighborhood: null,
    latitude: null,
    longitude: null,
    ...user,
    status: 'active',
    testCodeHash: null,
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
    private readonly config: AppConfig,
  ) {}

  /** @throws NotFound if the user no longer exists */
  async profile(id: string): Promise<UserProfile> {
    const profile = await this.repository.findProfile(id);
    if (!profile) throw new NotFound('The user no longer exists.');
    return profile;
  }

  /** The number of the user's posts that are not deleted; 0 if the user does not exist. */
  async postCount(id: string): Promise<number> {
    return (await this.repository.findProfile(id))?.postCount ?? 0;
  }

  async author(id: string): Promise<Author | null> {
    const profile = await this.repository.findProfile(id);
    return profile ? { id, name: profile.name, photoUrl: profile.photoUrl } : null;
  }

  /** Returns null if the user is blocked, has no phone number or does not exist. */
  active(id: string, tx?: Transaction): Promise<SignInUser | null> {
    return this.repository.findActive({ id }, tx);
  }

  /** Returns null if the user is blocked or does not exist. */
  activeByPhone(phone: string): Promise<SignInUser | null> {
    return this.repository.findActive({ phone });
  }

  /** Returns a user of any status. @throws UnknownUser */
  async get(id: string): Promise<User> {
    const user = isId('usr', id) ? await this.repository.findById(id) : null;
    if (!user) throw new UnknownUser(id);
    return user;
  }

  /** Returns a user of any status, or null. */
  findByPhone(phone: string): Promise<User | null> {
    return this.repository.findByPhone(phone);
  }

  /** Returns a user of any status, for an operator: also one who cannot sign in with the stored number. @throws NotFound */
  async getByPhone(phone: string): Promise<User> {
    const user = await this.repository.findByPhoneAsParsed(phone);
    if (!user) throw new NotFound('No user has this phone number.');
    return user;
  }

  /** All test members, of any status. Reads all users. */
  testMembers(): Promise<User[]> {
    return this.repository.findTestMembers();
  }

  /** The users who cannot sign in, because their stored number is parsed as another or as none. */
  idsWithMisparsedPhone(): AsyncGenerator<string> {
    return this.repository.findIdsWithMisparsedPhone();
  }

  /** Returns a user of any status. @throws NotFound */
  async getByExternalId(externalId: string): Promise<User> {
    const user = await this.repository.findByExternalId(externalId);
    if (!user) throw new NotFound('No user has this external id.');
    return user;
  }

  /** Users of any status, newest first. */
  async list(paging: Omit<Paging, 'page'>): Promise<Part<User>> {
    return partOf(await this.repository.findNewest(paging), paging);
  }

  /**
   * Finds the users of any status that have this id, phone number or external id, whose phone number ends with these four digits, or
   * whose name contains this text, newest first.
   */
  async search(text: string, paging: Omit<Paging, 'page'>): Promise<Part<User>> {
    const criteria = criteriaOf(text);
    if ('namePart' in criteria)
      return partOf(await this.repository.findNewest(paging, criteria), paging);
    // Each lookup uses a unique index.
    const found = await Promise.all(
      'id' in criteria
        ? [this.repository.findById(criteria.id)]
        : [
            this.repository.findByPhoneAsParsed(criteria.phone),
            this.repository.findByExternalId(criteria.externalId),
          ],
    );
    const { before } = paging;
    const distinct = new Map(found.flatMap((user) => (user ? [[user.id, user]] : [])));
    const older = [...distinct.values()].filter(({ id }) => before === undefined || id < before);
    return partOf(
      older.toSorted((one, other) => (one.id < other.id ? 1 : -1)),
      paging,
    );
  }

  /** Returns the phone of a user of any status, or null if the user has none. @throws UnknownUser */
  async phoneOf(id: string): Promise<string | null> {
    return (await this.get(id)).phone;
  }

  /** Takes effect on the next request, because each check of a token or sign-in reads the user's status. @throws UnknownUser */
  async changeStatus(
    id: string,
    status: User['status'],
    change: Change,
  ): Promise<{ user: User; changedNow: boolean }> {
    const user = await this.get(id);
    const changedNow = await this.transactions.run((tx) =>
      this.changeStatusInTransaction(tx, id, status, change),
    );
    return { user: Object.assign(user, { status }), changedNow };
  }

  /** Returns false if the user already has this status, or does not exist. */
  async changeStatusInTransaction(
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

  /** Whether there are users with other ids than these. */
  hasOthers(ids: readonly string[]): Promise<boolean> {
    return this.repository.hasOthers(ids);
  }

  /** @throws PhoneTaken; ExternalIdTaken; InvalidRequest if the number of a test member may belong to a person */
  async add(user: NewUser, change: Change, test?: TestMember): Promise<UserWithPhone> {
    const added = newUser(user, this.clock.now());
    if (test) {
      checkTestPhone(added.phone, test.anyNumber);
      added.testCodeHash = testCodeHash(this.config, added.id, test.code);
    }
    await this.withUniqueValues(added, () =>
      this.transactions.run((tx) => this.addInTransaction(tx, added, change)),
    );
    return added;
  }

  /** Makes a user of the demo of 1.1 a test member. Never for other users: it would open their account with a fixed code. */
  async convertToTest(tx: Transaction, id: string, code: string, change: Change): Promise<void> {
    const values = { testCodeHash: testCodeHash(this.config, id, code) };
    await this.updateInTransaction(tx, id, values, change, { test: true });
  }

  async addInTransaction(tx: Transaction, user: User, change: Change): Promise<void> {
    await this.repository.insert(tx, user);
    const details = isTestUser(user) ? { test: true } : {};
    await this.audit.record(tx, 'user.added', user.id, change, details);
  }

  /**
   * Changes the name or the external id of a user of any status, or the code of a test member.
   * @throws UnknownUser; ExternalIdTaken; InvalidRequest if the code of a real member would change
   */
  async update(
    id: string,
    { code, ...profile }: Partial<Pick<User, 'name' | 'externalId'> & Pick<TestMember, 'code'>>,
    change: Change,
  ): Promise<{ user: User; changedNow: boolean }> {
    const user = await this.get(id);
    if (code !== undefined && !isTestUser(user))
      throw new InvalidRequest(`${id} is no test member, so it has no fixed code.`);
    const values: Partial<User> = {
      ...profile,
      ...(code !== undefined && { testCodeHash: testCodeHash(this.config, id, code) }),
    };
    const fields = changedFields(values, user);
    if (fields.length > 0)
      await this.withUniqueValues({ externalId: values.externalId }, () =>
        this.transactions.run((tx) => this.updateInTransaction(tx, id, values, change, { fields })),
      );
    return { user: Object.assign(user, values), changedNow: fields.length > 0 };
  }

  async updateInTransaction(
    tx: Transaction,
    id: string,
    values: Partial<User>,
    change: Change,
    details: Record<string, unknown>,
  ): Promise<void> {
    await this.repository.update(tx, id, values);
    await this.audit.record(tx, 'user.updated', id, change, details);
  }

  /** @throws InvalidRequest if the number of the user changed in the meantime */
  async removePhone(
    tx: Transaction,
    id: string,
    phone: string,
    change: Change,
    details: Record<string, unknown>,
  ): Promise<void> {
    if (!(await this.repository.removePhone(tx, id, phone)))
      throw new InvalidRequest(`The phone number of ${id} was changed just now. Try again.`);
    await this.audit.record(tx, 'user.updated', id, change, { fields: ['phone'], ...details });
  }

  /** Names the user who has the phone number or the external id, if `write` fails because of it. @throws PhoneTaken; ExternalIdTaken */
  async withUniqueValues<T>(
    { phone, externalId }: Partial<Pick<User, 'phone' | 'externalId'>>,
    write: () => Promise<T>,
  ): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      const owner = phone ? await this.repository.findByPhone(phone) : null;
      if (owner) throw new PhoneTaken(owner.id);
      const member = externalId ? await this.repository.findByExternalId(externalId) : null;
      if (member) throw new ExternalIdTaken(member.id);
      throw error;
    }
  }
}

/** The names of the fields whose values differ from those of the stored user. */
export function changedFields(values: Partial<User>, stored: User): string[] {
  return Object.keys(values).filter(
    (name) => values[name as keyof User] !== stored[name as keyof User],
  );
}

/** How to find the users that a text means: by unique values, or by reading all users. */
type UserCriteria = { id: string } | { phone: string; externalId: string } | UserMatch;

/** A phone number needs its country code, with `+`. Every text may be an external id, except the id of a user. */
export function criteriaOf(text: string): UserCriteria {
  if (idPattern('usr').test(text)) return { id: text };
  const phone = text.startsWith('+') ? parsePhone(text) : undefined;
  if (phone !== undefined) return { phone, externalId: text };
  const isPhoneEnd = /^\d{4}$/.test(text);
  return { externalId: text, namePart: text, ...(isPhoneEnd && { phoneEnd: text }) };
}
