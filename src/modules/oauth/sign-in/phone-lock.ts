import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock } from '../../../platform/clock.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import { UsersService } from '../../users/users.service.js';
import { TrustedDevicesRepository } from '../rate-limit/trusted-devices.repository.js';
import type { OtpChallenge, OtpFailures } from './sign-in.entities.js';
import { SignInRepository } from './sign-in.repository.js';

/**
 * Consecutive wrong one-time passwords after which a phone number is locked, or a device is no longer trusted (NIST SP 800-63B,
 * section 5.2.2).
 */
const MAX_FAILURES = 100;
/** The end of a lock that has no end. Version 1.0, which may run beside this one during an upgrade, reads the same column. */
const NO_END = new Date('9999-12-31T00:00:00Z');

/** The state of a phone number before it was unlocked. */
export interface LockState {
  locked: boolean;
  failures: number;
}

/**
 * Locks a phone number for strangers after 100 consecutive wrong one-time passwords, until a sign-in on a trusted device or `unlock`.
 * Counts by number and not by user, so that a phone number without an account behaves the same. Trusted devices are counted one by
 * one: after 100 consecutive wrong one-time passwords, a device is a stranger.
 */
@Injectable()
export class PhoneLock {
  constructor(
    private readonly repository: SignInRepository,
    private readonly devices: TrustedDevicesRepository,
    private readonly users: UsersService,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  async isLocked(phone: string): Promise<boolean> {
    return isLockedAt(await this.repository.findFailures(phone), this.clock.now());
  }

  /**
   * Counts an attempt of a stranger. Serializes the attempts for a phone number: a correct attempt that is concurrent with the 100th
   * wrong one fails if it comes second.
   * @returns true if the phone number was already locked; then the attempt fails even if it is correct
   */
  async recordStranger(
    tx: Transaction,
    { phone, userId }: OtpChallenge,
    { isCorrect }: { isCorrect: boolean },
  ): Promise<boolean> {
    const now = this.clock.now();
    const row = isCorrect
      ? await this.repository.findFailuresForUpdate(tx, phone, now)
      : await this.repository.upsertFailuresForUpdate(tx, phone, now);
    const isLocked = isLockedAt(row, now);
    if (isLocked || isCorrect || row === null) return isLocked;
    // The first failure after a lock of version 1.0, which ended after a day, starts a new count.
    const failures = row.lockedUntil === null ? row.failures + 1 : 1;
    const lockedUntil = failures >= MAX_FAILURES ? NO_END : null;
    await this.repository.updateFailures(tx, phone, { failures, lockedUntil });
    if (lockedUntil !== null && userId !== null)
      await this.audit.record(tx, 'otp.locked', userId, { actor: 'service' });
    return false;
  }

  /** Counts a wrong one-time password of a trusted device. */
  async recordTrustedDevice(
    tx: Transaction,
    { phone, userId }: OtpChallenge,
    browserHash: string,
  ): Promise<void> {
    const failures = await this.devices.countFailure(tx, browserHash, phone);
    if (failures < MAX_FAILURES) return;
    await this.devices.delete(tx, browserHash, phone);
    if (userId !== null)
      await this.audit.record(tx, 'otp.device_distrusted', userId, { actor: 'service' });
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
      const locked = isLockedAt(row, now);
      await this.repository.deleteFailures(tx, phone);
      await this.audit.record(tx, 'user.unlocked', userId, change, { locked, failures });
      return { locked, failures };
    });
  }
}

function isLockedAt(row: OtpFailures | null, now: Date): boolean {
  const until = row?.lockedUntil ?? null;
  return until !== null && until > now;
}
