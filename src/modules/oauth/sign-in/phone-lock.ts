import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock, DAY, addMilliseconds, secondsUntil } from '../../../platform/clock.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import { UsersService } from '../../users/users.service.js';
import type { OtpChallenge, OtpFailures } from './sign-in.entities.js';
import { SignInRepository } from './sign-in.repository.js';

/** Consecutive wrong one-time passwords after which a phone number is locked (NIST SP 800-63B, section 5.2.2). */
const MAX_FAILURES = 100;

/** The state of a phone number before it was unlocked. */
export interface LockState {
  locked: boolean;
  failures: number;
}

/**
 * Locks a phone number for 24 hours after 100 consecutive wrong one-time passwords. Counts by number and not by user, so that a
 * phone number without an account behaves the same.
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

  /** The remaining seconds of the lock, or undefined if the phone number is not locked. */
  async secondsLeft(phone: string): Promise<number | undefined> {
    return lockedSeconds(await this.repository.findFailures(phone), this.clock.now());
  }

  /**
   * Counts a wrong one-time password. Serializes the attempts for a phone number: a correct attempt that is concurrent with the
   * 100th wrong one fails if it comes second.
   * @returns the remaining seconds if the phone number was already locked; then the attempt fails even if it is correct
   */
  async recordAttempt(
    tx: Transaction,
    { phone, userId }: OtpChallenge,
    { isCorrect }: { isCorrect: boolean },
  ): Promise<number | undefined> {
    const now = this.clock.now();
    const row = isCorrect
      ? await this.repository.findFailuresForUpdate(tx, phone, now)
      : await this.repository.upsertFailuresForUpdate(tx, phone, now);
    const locked = lockedSeconds(row, now);
    if (locked !== undefined || isCorrect || row === null) return locked;
    // The first failure after a lock starts a new count.
    const failures = row.lockedUntil === null ? row.failures + 1 : 1;
    const lockedUntil = failures >= MAX_FAILURES ? addMilliseconds(now, DAY) : null;
    await this.repository.updateFailures(tx, phone, { failures, lockedUntil });
    if (lockedUntil !== null && userId !== null)
      await this.audit.record(tx, 'otp.locked', userId, { actor: 'service' }, { lockedUntil });
    return undefined;
  }

  /**
   * Unlocks the phone number of a user and resets the count.
   * @throws UnknownUser
   */
  async unlock(userId: string, change: Change): Promise<LockState> {
    const phone = await this.users.phoneOf(userId);
    if (phone === null) return { locked: false, failures: 0 };
    const now = this.clock.now();
    return this.transactions.run(async (tx) => {
      const row = await this.repository.findFailuresForUpdate(tx, phone, now);
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
