import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock, DAY, later, secondsUntil } from '../../../platform/clock.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import { UsersService } from '../../users/users.service.js';
import type { OtpChallenge, OtpFailures } from './sign-in.entities.js';
import { OtpFailuresRepository } from './otp.repository.js';

/** Wrong passwords in a row for one phone (NIST SP 800-63B, section 5.2.2). */
const MOST_FAILURES = 100;

/** What lifting a lock found: `locked` tells whether nobody could sign in, `failures` what had been counted. */
export interface Lifted {
  locked: boolean;
  failures: number;
}

/**
 * Closes a phone for 24 hours after 100 wrong passwords in a row, whoever typed them. It counts by phone and not by user, so
 * that a phone that nobody has behaves the same.
 */
@Injectable()
export class PhoneLock {
  constructor(
    private readonly repository: OtpFailuresRepository,
    private readonly users: UsersService,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** For how long nobody may sign in with this phone, in seconds, or undefined when they may. */
  async secondsLeft(phone: string): Promise<number | undefined> {
    return lockedSeconds(await this.repository.find(phone), this.clock.now());
  }

  /**
   * Judges a password that was compared, in that unit: a wrong one counts. The guesses at one phone are judged one after the other, so
   * that of many at once none after the hundredth wrong one gets through, not even a right one.
   * @returns the seconds of the lock that was there before, or undefined when the password counts as what it is
   */
  async judge(
    tx: Transaction,
    { phone, userId }: OtpChallenge,
    right: boolean,
  ): Promise<number | undefined> {
    const now = this.clock.now();
    const counted = right
      ? await this.repository.hold(tx, phone, now)
      : await this.repository.open(tx, phone, now);
    const locked = lockedSeconds(counted, now);
    if (locked !== undefined || right || counted === null) return locked;
    const failures = counted.lockedUntil === null ? counted.failures + 1 : 1;
    const lockedUntil = failures >= MOST_FAILURES ? later(now, DAY) : null;
    await this.repository.count(tx, phone, { failures, lockedUntil });
    if (lockedUntil !== null && userId !== null)
      await this.audit.record(tx, 'otp.locked', userId, { actor: 'service' }, { lockedUntil });
    return undefined;
  }

  /** Starts the count again, in the unit that signs in. */
  async reset(tx: Transaction, phone: string): Promise<void> {
    await this.repository.delete(tx, phone);
  }

  /**
   * Lets a user sign in again at once, and starts the count again.
   * @throws NotFound when there is no such user
   */
  async lift(userId: string, change: Change): Promise<Lifted> {
    const phone = await this.users.phoneOf(userId);
    const now = this.clock.now();
    return this.transactions.run(async (tx) => {
      const counted = await this.repository.hold(tx, phone, now);
      if (counted === null) return { locked: false, failures: 0 };
      const locked = lockedSeconds(counted, now) !== undefined;
      const { failures } = counted;
      await this.repository.delete(tx, phone);
      await this.audit.record(tx, 'user.unlocked', userId, change, { locked, failures });
      return { locked, failures };
    });
  }
}

function lockedSeconds(counted: OtpFailures | null, now: Date): number | undefined {
  const until = counted?.lockedUntil ?? null;
  return until !== null && until > now ? secondsUntil(until, now) : undefined;
}
