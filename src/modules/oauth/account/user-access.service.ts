import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import { InvalidRequest } from '../../../platform/errors.js';
import type { User } from '../../users/user.entity.js';
import { checkTestPhone, isTestUser } from '../../users/test-members.js';
import type { SignInUser } from '../../users/users.repository.js';
import {
  changedFields,
  PhoneTaken,
  UsersService,
  type UserWithPhone,
} from '../../users/users.service.js';
import { AuthorizationsRepository } from '../authorize/authorizations.repository.js';
import { TrustedDevicesRepository } from '../rate-limit/rate-limit.repository.js';
import { SignInRepository } from '../sign-in/sign-in.repository.js';
import { appsOf, GrantsService, type AppSummary } from '../tokens/grants.service.js';

export interface EndedAccess {
  /** The apps that lost access. */
  apps: AppSummary[];
  /** Number of ended browser sessions, with expired ones that were not yet deleted. */
  sessions: number;
}

type PhoneOwner = Pick<UserWithPhone, 'id' | 'phone'>;

/** Ends all access to a user's account, on its own or because the phone number changes. */
@Injectable()
export class UserAccess {
  constructor(
    private readonly grants: GrantsService,
    private readonly signIn: SignInRepository,
    private readonly devices: TrustedDevicesRepository,
    private readonly authorizations: AuthorizationsRepository,
    private readonly users: UsersService,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
  ) {}

  /**
   * Ends every grant, session, trusted device, authorization request and one-time password of a user in one transaction.
   * @param also further changes in the same transaction
   * @param others users whose grants end, too
   * @throws UnknownUser
   */
  async end(
    userId: string,
    change: Change,
    also: (tx: Transaction) => Promise<void> = async () => undefined,
    others: readonly string[] = [],
  ): Promise<EndedAccess> {
    const user = { id: userId, phone: await this.users.phoneOf(userId) };
    const apps = await this.grants.activeApps(userId);
    return this.transactions.run(async (tx) => {
      const sessions = await this.endSignIns(tx, user, change);
      await also(tx);
      const revoked = await this.grants.revokeAllOf(tx, [userId, ...others], change);
      return { apps: appsOf(userId, revoked, apps), sessions };
    });
  }

  /** What `end` would report. @throws UnknownUser */
  async preview(userId: string): Promise<EndedAccess> {
    await this.users.get(userId);
    return {
      apps: await this.grants.activeApps(userId),
      sessions: await this.signIn.countSessionsOf(userId),
    };
  }

  /**
   * Ends every session and authorization request of a user, who asked for it. Other browsers are no longer trusted devices.
   * @param options.browserHash the browser of the user
   * @param options.withApps ends every grant in the same transaction, too: a thief of a session may have allowed apps
   */
  async signOut(
    user: SignInUser,
    { browserHash, withApps }: { browserHash?: string; withApps: boolean },
  ): Promise<void> {
    const change = { actor: user.id, reason: 'by the user' };
    await this.transactions.run(async (tx) => {
      await this.endSignIns(tx, user, change, browserHash);
      if (withApps) await this.grants.revokeAllOf(tx, [user.id], change);
    });
  }

  /**
   * Locks rows in the same order as a sign-in, before the grants. A concurrent sign-in either commits first, and its rows are deleted
   * too, or finds its one-time password deleted.
   * @returns the number of ended sessions
   */
  private async endSignIns(
    tx: Transaction,
    { id, phone }: Pick<User, 'id' | 'phone'>,
    change: Change,
    trustedBrowserHash?: string,
  ): Promise<number> {
    if (phone !== null) {
      await this.signIn.deleteChallengesOf(tx, phone);
      await this.devices.deleteAllOf(tx, phone, trustedBrowserHash);
    }
    const sessions = await this.signIn.deleteSessionsOf(tx, id);
    const requests = await this.authorizations.deleteForUser(tx, id);
    // `begun`, the number of deleted authorization requests, keeps its name because stored events have it.
    if (sessions + requests > 0)
      await this.audit.record(tx, 'user.signed_out', id, change, { sessions, begun: requests });
    return sessions;
  }

  /**
   * Changes the phone number of a user, and ends all access to the account: another person may have had the old number and signed in
   * with it.
   * @param phone E.164; null removes the number
   * @param options.reassign takes the number away from the user who has it, and ends all access to that account, too. A test member gets
   * no number of a real one.
   * @param options.anyNumber allows a test member a number that may belong to a person
   * @param options.values further fields to change
   * @throws UnknownUser; PhoneTaken; InvalidRequest if the number of a test member may belong to a person
   */
  async changePhone(
    userId: string,
    phone: string | null,
    change: Change,
    {
      reassign = false,
      anyNumber = false,
      values = {},
    }: { reassign?: boolean; anyNumber?: boolean; values?: Partial<User> } = {},
  ): Promise<EndedAccess> {
    const user = await this.users.get(userId);
    if (phone !== null && isTestUser(user)) checkTestPhone(phone, anyNumber);
    const fields = changedFields({ phone, ...values }, user);
    const previous = await this.previousOwner(phone, user, reassign);
    const details = { fields, ...(previous && { takenFrom: previous.id }) };
    return this.users.withUniqueValues({ phone: previous ? null : phone, ...values }, () =>
      this.end(
        userId,
        change,
        async (tx) => {
          if (previous) await this.removePhone(tx, previous, userId, change);
          await this.users.updateInTransaction(tx, userId, { ...values, phone }, change, details);
        },
        previous ? [previous.id] : [],
      ),
    );
  }

  /** Adds a user with a phone number that another user may have. Like `changePhone` with `reassign`. */
  async addWithReassignedPhone(user: UserWithPhone, change: Change): Promise<void> {
    const previous = await this.previousOwner(user.phone, user, true);
    await this.users.withUniqueValues({ ...user, phone: previous ? null : user.phone }, () =>
      this.transactions.run(async (tx) => {
        if (previous) await this.removePhone(tx, previous, user.id, change);
        await this.users.addInTransaction(tx, user, change);
        if (previous) await this.grants.revokeAllOf(tx, [previous.id], change);
      }),
    );
  }

  /**
   * The other user who has the number.
   * @throws PhoneTaken if `reassign` is false; InvalidRequest if a test member would take the number of a real one
   */
  private async previousOwner(
    phone: string | null,
    newOwner: User,
    reassign: boolean,
  ): Promise<PhoneOwner | null> {
    if (phone === null) return null;
    const owner = await this.users.findByPhone(phone);
    if (!owner || owner.id === newOwner.id) return null;
    if (!reassign) throw new PhoneTaken(owner.id);
    if (isTestUser(newOwner) && !isTestUser(owner))
      throw new InvalidRequest(
        `${owner.id} is a real member and keeps the number. Use another one for the test member.`,
      );
    return { id: owner.id, phone };
  }

  /** Ends the sign-ins of the previous owner. The caller ends the grants. */
  private async removePhone(
    tx: Transaction,
    { id, phone }: PhoneOwner,
    newOwnerId: string,
    change: Change,
  ): Promise<void> {
    await this.endSignIns(tx, { id, phone }, change);
    await this.signIn.deleteFailures(tx, phone);
    await this.users.removePhone(tx, id, phone, change, { givenTo: newOwnerId });
  }
}
