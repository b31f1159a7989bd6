import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock } from '../../../platform/clock.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import { currentRequest } from '../../../platform/request-context.js';
import { lastExpiredSlot, secondsUntilExpiry, slotOf } from '../../../platform/sliding-window.js';
import type { SignInUser } from '../../users/users.repository.js';
import { UsersService } from '../../users/users.service.js';
import type { RateLimitName } from '../rate-limit/rate-limits.js';
import {
  hashOf,
  RateLimiter,
  type Attempt,
  type CountedAttempts,
  type CountResult,
} from '../rate-limit/rate-limiter.js';
import type { Visitor } from '../rate-limit/request-limits.js';
import { TrustedDevicesRepository } from '../rate-limit/rate-limit.repository.js';
import type { OtpChallenge, OtpFailures } from './sign-in.entities.js';
import { SignInRepository } from './sign-in.repository.js';

/**
 * Consecutive wrong one-time passwords after which a phone number is locked, or a device is no longer trusted (NIST SP 800-63B,
 * section 5.2.2).
 */
const MAX_FAILURES = 100;
/** The end of a lock that has no end. Version 1.0, which may run beside this one during an upgrade, reads the same column. */
const NO_END = new Date('9999-12-31T00:00:00Z');

const MESSAGE_LIMITS = ['otp-pause', 'otp-hourly', 'otp-daily'] as const;

/** The phone number of a message or a guess, and whether the browser signed in with it before. */
export interface PhoneAccess {
  /** E.164. */
  phone: string;
  isTrusted: boolean;
}

/** `locked`: 100 consecutive wrong one-time passwords. `throttled`: too many attempts in the current window. */
export type BlockedPhone =
  { outcome: 'locked' } | { outcome: 'throttled'; retryAfterSeconds: number };

/** The state of a phone number before it was unlocked. */
export interface LockState {
  locked: boolean;
  failures: number;
}

/**
 * The limits of a phone number: messages and guesses in sliding windows, and a lock after 100 consecutive wrong one-time passwords. All
 * strangers share them, so one of them can exhaust them. The trusted devices of the number share limits of the same size of their own,
 * so that no stranger can lock the user out.
 *
 * The lock applies to strangers, until a sign-in on a trusted device or `unlock`. It belongs to the number and not to the user, so that
 * a phone number without an account behaves the same. Trusted devices are counted one by one: after 100 consecutive wrong one-time
 * passwords, a device is a stranger.
 */
@Injectable()
export class PhoneLimits {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly repository: SignInRepository,
    private readonly devices: TrustedDevicesRepository,
    private readonly users: UsersService,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /**
   * Whether the browser is trusted, and why neither messages nor guesses are allowed; `blocked` is undefined if they are. Counts a
   * rejection by the limit of guesses in the metric.
   */
  async accessOf(
    phone: string,
    { browserHash }: Visitor,
  ): Promise<PhoneAccess & { blocked?: BlockedPhone }> {
    const access = { phone, isTrusted: await this.devices.isTrusted(browserHash, phone) };
    if (!access.isTrusted) {
      const failures = await this.repository.findFailures(phone);
      if (failures.some((row) => isLockedAt(row, this.clock.now())))
        return { ...access, blocked: { outcome: 'locked' } };
    }
    const guess = this.attempt('otp-guesses', access);
    const { exceeded, retryAfterSeconds } = await this.limiter.peek(guess);
    if (!exceeded) return access;
    this.limiter.countRejected(guess.limit.name);
    return { ...access, blocked: { outcome: 'throttled', retryAfterSeconds } };
  }

  /** Counts a message to this phone, unless a limit is exceeded. The network of a trusted device does not count. */
  countMessage(tx: Transaction, access: PhoneAccess, visitor: Visitor): Promise<CountResult> {
    const toPhone = MESSAGE_LIMITS.map((name) => this.attempt(name, access));
    const fromNetworks = (['address', 'network56', 'network48'] as const).map((network) => ({
      limit: this.limiter.limits[`otp-${network}`],
      key: visitor[network],
    }));
    const attempts = access.isTrusted ? toPhone : [...toPhone, ...fromNetworks];
    return this.limiter.addAllIfAllowed(tx, attempts);
  }

  /** The seconds until a phone may get another message, if it got the last one at `at` and no longer limit is exceeded. */
  pauseAfter(at: Date): number {
    const { max, windowMs } = this.limiter.limits['otp-pause'];
    const now = this.clock.now();
    const slot = slotOf(at, windowMs);
    if (max !== 1 || slot <= lastExpiredSlot(now, windowMs)) return 0;
    return secondsUntilExpiry(slot, windowMs, now);
  }

  /** Counts a guess at a password of this phone, unless a limit is exceeded. */
  countGuess(tx: Transaction, access: PhoneAccess): Promise<CountResult> {
    return this.limiter.addAllIfAllowed(tx, [this.attempt('otp-guesses', access)]);
  }

  refund(tx: Transaction, counted: CountedAttempts): Promise<void> {
    return this.limiter.refund(tx, counted);
  }

  /**
   * Counts an attempt of a stranger towards the lock. Serializes the attempts for a phone number: a correct attempt that is concurrent
   * with the 100th wrong one fails if it comes second.
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

  /** Counts a wrong one-time password in the whole network. */
  async countWrongCode(tx: Transaction): Promise<void> {
    await this.limiter.add(tx, [this.wrongCodes], {});
  }

  /**
   * Records a wrong one-time password in the audit log if the phone belongs to a user: of a phone and a network, one an hour. The same
   * statements run for every phone.
   */
  async recordFailure(
    { phone, userId }: OtpChallenge,
    { network48 }: Visitor,
    isTrusted: boolean,
  ): Promise<void> {
    if (!(await this.limiter.isFirstFailure(`otp ${phone} ${network48}`))) return;
    await this.transactions.run((tx) =>
      this.audit.recordOrDecoy(tx, 'otp.failed', userId, signInDetails(isTrusted)),
    );
  }

  /** The wrong one-time passwords of the last 24 hours in the whole network. 0 if they are not limited. */
  async countWrong(): Promise<number> {
    return (await this.limiter.peek(this.wrongCodes)).count;
  }

  /**
   * Whether somebody tries the passwords of many phones, so that browsers that did not sign in before need longer ones. The guesses at each
   * phone have limits of their own, but not those at all phones together: they must not stop every sign-in.
   */
  async needsLongPasswords(): Promise<boolean> {
    return (await this.limiter.peek(this.wrongCodes)).exceeded;
  }

  private get wrongCodes(): Attempt {
    return { limit: this.limiter.limits['otp-wrong-codes'], key: '' };
  }

  /** Trusts the device, resets the counts of consecutive failures, and records the sign-in. */
  async recordSignIn(
    tx: Transaction,
    { id, phone }: SignInUser,
    { browserHash }: Visitor,
    isTrusted: boolean,
  ): Promise<void> {
    const signedInAt = this.clock.now();
    await this.devices.save(tx, { browserHash, phone, signedInAt, failures: 0 });
    await this.repository.deleteFailures(tx, phone);
    await this.audit.record(tx, 'user.signed_in', id, { actor: id }, signInDetails(isTrusted));
  }

  /** Records that a user proved the number, but cannot sign in to the app: one of them is for tests and the other is real. */
  async recordRefusal(tx: Transaction, { id }: SignInUser, isTrusted: boolean): Promise<void> {
    const details = signInDetails(isTrusted);
    await this.audit.record(tx, 'user.sign_in_refused', id, { actor: id }, details);
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

  private attempt(name: RateLimitName, access: PhoneAccess): Attempt {
    return { limit: this.limiter.limits[name], key: keyOf(access) };
  }
}

/** Details of audit events: the app, if the sign-in is for one, and whether somebody signed in with this browser and phone before. */
export function signInDetails(isTrusted: boolean): Record<string, unknown> {
  const { clientId } = currentRequest() ?? {};
  return { ...(clientId !== undefined && { clientId }), device: isTrusted ? 'trusted' : 'new' };
}

/** Identifies the rows that count messages to this phone and guesses. */
export function attemptHashesOf(phone: string): string[] {
  const keys = [true, false].map((isTrusted) => keyOf({ phone, isTrusted }));
  return [...MESSAGE_LIMITS, 'otp-guesses' as const].flatMap((name) =>
    keys.map((key) => hashOf({ name }, key)),
  );
}

function keyOf({ phone, isTrusted }: PhoneAccess): string {
  return isTrusted ? `${phone}|trusted` : phone;
}

function isLockedAt(row: OtpFailures | null, now: Date): boolean {
  const until = row?.lockedUntil ?? null;
  return until !== null && until > now;
}
