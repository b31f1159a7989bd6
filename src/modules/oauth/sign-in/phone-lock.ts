import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock, DAY, addMilliseconds, secondsUntil } from '../../../platform/clock.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import { UsersService } from '../../users/users.service.js';
import type { OtpChallenge, OtpFailures } from './sign-in.entities.js';
import { SignInRepository } from './sign-in.repository.js';

/** Consecutive wrong passwords for one phone (NIST SP 800-63B, section 5.2.2). */
const MAX_FAILURES = 100;

/** The state of a phone before it was unlocked. */
export interface LockState {
  locked: boolean;
  failures: number;
}

/**
 * Locks a phone for 24 hours after 100 consecutive wrong passwords. Counts by phone and not by user, so that a phone without a
 * user behaves the same.
 */
@Injectable()
export class PhoneLock {
  constructor(
    private readonly repository: SignInRepository,
    private readonly users: UsersService,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** The remaining seconds of the lock, or undefined if the phone is not locked. */
  async secondsLeft(phone: string): Promise<number | undefined> {
    return lockedSeconds(await this.repository.findFailures(phone), this.clock.now());
  }

  /**
   * Counts a wrong password. Serializes the guesses of a phone, so that a concurrent right guess after the 100th wrong one
   * fails.
   * @returns the remaining seconds if the phone was already locked; then the guess fails even if it is right
   */
  async recordGuess(
    tx: Transaction,
    { phone, userId }: OtpChallenge,
    isRight: boolean,
  ): Promise<number | undefined> {
    const now = this.clock.now();
    const row = isRight
      ? await this.repository.lockFailures(tx, phone, now)
      : await this.repository.lockOrCreateFailures(tx, phone, now);
    const locked = lockedSeconds(row, now);
    if (locked !== undefined || isRight || row === null) return locked;
    const failures = row.lockedUntil === null ? row.failures + 1 : 1;
    const lockedUntil = failures >= MAX_FAILURES ? addMilliseconds(now, DAY) : null;
    await this.repository.updateFailures(tx, phone, { failures, lockedUntil });
    if (lockedUntil !== null && userId !== null)
      await this.audit.record(tx, 'otp.locked', userId, { actor: 'service' }, { lockedUntil });
    return undefined;
  }

  /**
   * Unlocks the phone of a user and resets the count.
   * @throws UnknownUser
   */
  async unlock(userId: string, change: Change): Promise<LockState> {
    const phone = await this.users.phoneOf(userId);
    const now = this.clock.now();
    return this.transactions.run(async (tx) => {
      const row = await this.repository.lockFailures(tx, phone, now);
      if (row === null) return { locked: false, failures: 0 };
      const { failures } = row;
      const locked = lockedSeconds(row, now) !== undefined;
      await this.repository.deleteFailures(tx, phone);
      await this.audit.record(tx, 'user.unlocked', userId, change, { locked, failures });
      return { locked, failures };
    });
  }
}

function lockedSeconds(row: OtpFailures | null, now: Date): number | undefined {
  const until = row?.lockedUntil ?? null;
  return until !== null && until > now ? secondsUntil(until, now) : undefined;
}
