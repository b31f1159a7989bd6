import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock, addMilliseconds, SECOND } from '../../../platform/clock.js';
import { countryOf } from '../../users/phone-number.js';
import { digestsEqual, hmacSha256, sha256 } from '../../../platform/secrets.js';
import { plainNumber } from '../../../platform/text.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { UnknownCommitOutcome } from '../../../platform/database/errors.js';
import { type Transaction, TransactionRunner } from '../../../platform/database/transaction.js';
import type { SignInUser } from '../../users/users.repository.js';
import { canAuthorize, isTestUser, type Mode, testCodeHash } from '../../users/test-members.js';
import { UsersService } from '../../users/users.service.js';
import type { CountResult } from '../rate-limit/rate-limiter.js';
import type { Visitor } from '../rate-limit/request-limits.js';
import { countKeyOf, OtpDelivery, type PasswordMessage } from './otp-delivery.js';
import { PhoneLimits, type BlockedPhone } from './phone-limits.js';
import type { OtpChallenge } from './sign-in.entities.js';
import { SignInRepository } from './sign-in.repository.js';

export const DIGITS = 6;
/** The digits for browsers that did not sign in with the phone before, while the limit `wrong-codes-per-day` is exceeded. */
export const LONG_DIGITS = 8;
/** Guesses per one-time password: of trusted devices, and of other browsers. */
export const MAX_ATTEMPTS = { trusted: 5, stranger: 3 };

/** A submitted one-time password. */
export interface Guess {
  /** E.164. */
  phone: string;
  password: string;
  visitor: Visitor;
  /** The app that the sign-in is for. Undefined for the account pages. */
  app?: Mode;
}

/** Runs in the transaction that consumes the correct one-time password. */
export type OnSignIn = (tx: Transaction, user: SignInUser) => Promise<void>;

/**
 * `other_mode`: the code is correct, but one of the user and the app is for tests and the other is real.
 * `no_valid_password`: the one-time password was never requested, has expired, was used, or had too many attempts, or its user was
 * blocked or erased since.
 */
export type Verification =
  | { outcome: 'verified'; user: SignInUser }
  | { outcome: 'wrong' | 'no_valid_password' | 'other_mode' }
  | BlockedPhone;

/** The outcomes of a submitted one-time password. */
export const VERIFICATION_OUTCOMES = [
  'verified',
  'wrong',
  'no_valid_password',
  'other_mode',
  'locked',
  'throttled',
] as const satisfies Verification['outcome'][];

/**
 * `message_limit`: too many messages; `isEarlierValid` if the browser can still use the password of an earlier message.
 * `unsupported_country`: `OTP_COUNTRIES` excludes the number. `paused`: an operator paused all messages.
 */
type SendResult =
  | { outcome: 'sent' | 'unsupported_country' | 'paused' }
  | { outcome: 'message_limit'; retryAfterSeconds: number; isEarlierValid: boolean }
  | BlockedPhone;

interface OtpStatus {
  /** Of the one-time password. */
  digits: number;
  /** Guesses at the one-time password; 0 if it was never requested, has expired or was used. */
  attemptsLeft: number;
  /** Whether a guess was wrong. */
  hasFailed: boolean;
  /** Whether too many guesses were wrong. */
  isUsedUp: boolean;
  /** Until the pause after the last message to this browser ends. A limit may demand a longer wait. */
  resendAfterSeconds: number;
}

/** One-time passwords by phone (product requirements, section 3; NIST SP 800-63B). */
@Injectable()
export class OtpService {
  constructor(
    private readonly repository: SignInRepository,
    private readonly users: UsersService,
    private readonly phones: PhoneLimits,
    private readonly delivery: OtpDelivery,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** Whether `OTP_COUNTRIES` includes the number (E.164). */
  serves(phone: string): boolean {
    const { countries } = this.config.otp;
    return !countries || countries.includes(countryOf(phone) ?? '');
  }

  /**
   * Sends a new one-time password to `phone` (E.164) if it belongs to an active user. The result does not reveal whether it does:
   * an unknown number uses up the same limits and gets `sent`, too. The daily total limits real messages, so this method only reads
   * it, and `OtpDelivery` counts each message that it sends.
   *
   * A test member has a fixed code, and gets no messages, so their limits do not apply. At an app that the user cannot authorize, the
   * number is treated like an unknown one.
   */
  async send(
    phone: string,
    visitor: Visitor,
    {
      language,
      app,
    }: Pick<PasswordMessage, 'language'> & { app: (Mode & { name: string }) | undefined },
  ): Promise<SendResult> {
    const { seconds } = this.config.otp;
    const isTestApp = app?.test === true;
    // No sign-in to a test app needs a message.
    if (!isTestApp && !this.serves(phone)) return { outcome: 'unsupported_country' };
    if (!isTestApp && (await this.repository.isPaused())) return { outcome: 'paused' };
    const access = await this.phones.accessOf(phone, visitor);
    if (access.blocked) return access.blocked;
    const id = challengeId(visitor, phone);
    const rejected = async (retryAfterSeconds: number): Promise<SendResult> => ({
      outcome: 'message_limit',
      retryAfterSeconds,
      isEarlierValid: (await this.findOpen(id, app)) !== null,
    });
    const user = await this.users.activeByPhone(phone);
    const isKnown = user !== null && canAuthorize(user, app);
    const hasFixedCode = isKnown && isTestUser(user);
    // At a real app, the fixed code of a test member only proves who reads the explanation.
    const canProve = user !== null && (isKnown || isTestUser(user));
    if (!hasFixedCode) {
      const total = await this.delivery.peekDailyTotal(access.isTrusted);
      if (total.exceeded) return rejected(total.retryAfterSeconds);
    }
    const isShort = access.isTrusted || isTestApp;
    const digits = isShort ? DIGITS : await this.digitsForStrangers();
    const password = newOneTimePassword(digits);
    const now = this.clock.now();
    const challenge: OtpChallenge = {
      id,
      phone,
      userId: canProve ? user.id : null,
      codeHash: user?.testCodeHash ?? this.hash(id, password),
      digits,
      attempts: 0,
      maxAttempts: MAX_ATTEMPTS[access.isTrusted ? 'trusted' : 'stranger'],
      createdAt: now,
      expiresAt: addMilliseconds(now, seconds * SECOND),
      consumedAt: null,
    };
    if (hasFixedCode) {
      await this.transactions.run((tx) => this.repository.saveChallenge(tx, challenge));
      return { outcome: 'sent' };
    }
    const recipientId = isKnown ? user.id : null;
    const { isTrusted } = access;
    const message = { challenge, recipientId, password, language, appName: app?.name, isTrusted };
    const result = await this.countAndStore(message, visitor);
    if (!result.isCounted) return rejected(result.retryAfterSeconds);
    this.delivery.deliver(message, { isStored: true });
    return { outcome: 'sent' };
  }

  /**
   * Counts the message and, unless a limit is exceeded, stores its password. After an unknown commit outcome, sends the message only
   * if the password is stored.
   */
  private async countAndStore(message: PasswordMessage, visitor: Visitor): Promise<CountResult> {
    const { challenge, isTrusted } = message;
    const access = { phone: challenge.phone, isTrusted };
    let result: CountResult | undefined;
    try {
      return await this.transactions.run(async (tx) => {
        result = await this.phones.countMessage(tx, access, visitor);
        if (result.isCounted) await this.repository.saveChallenge(tx, challenge);
        return result;
      });
    } catch (error) {
      if (result?.isCounted && error instanceof UnknownCommitOutcome)
        this.delivery.deliver(message, { isStored: false });
      throw error;
    }
  }

  /**
   * What this browser can do with the one-time password that it requested for this phone. Depends on no other browser, so that it does
   * not reveal whether somebody signs in with the phone.
   */
  async status(phone: string, visitor: Visitor, app?: Mode): Promise<OtpStatus> {
    const challenge = await this.repository.findChallenge(challengeId(visitor, phone));
    if (!challenge)
      return {
        digits: DIGITS,
        attemptsLeft: 0,
        hasFailed: false,
        isUsedUp: false,
        resendAfterSeconds: 0,
      };
    const { digits, attempts, maxAttempts, consumedAt, createdAt, expiresAt } = challenge;
    const isValid =
      !consumedAt && expiresAt > this.clock.now() && !(await this.isTooShort(challenge, app));
    return {
      digits,
      attemptsLeft: isValid ? Math.max(0, maxAttempts - attempts) : 0,
      hasFailed: attempts > 0,
      isUsedUp: attempts >= maxAttempts,
      resendAfterSeconds: this.phones.pauseAfter(createdAt),
    };
  }

  /**
   * Verifies a one-time password. The outcomes `wrong` and `other_mode` use up the limit of guesses. `other_mode` changes nothing else.
   */
  async verify(guess: Guess, onSignIn: OnSignIn): Promise<Verification> {
    const { phone, visitor, app } = guess;
    const challenge = await this.findOpen(challengeId(visitor, phone), app);
    if (!challenge) return { outcome: 'no_valid_password' };
    const access = await this.phones.accessOf(phone, visitor);
    if (access.blocked) return access.blocked;
    const verification = await this.transactions.run<Verification>(async (tx) => {
      const result = await this.phones.countGuess(tx, access);
      if (!result.isCounted)
        return { outcome: 'throttled', retryAfterSeconds: result.retryAfterSeconds };
      const compared = await this.compare(tx, guess, access.isTrusted, onSignIn);
      if (compared.outcome !== 'wrong' && compared.outcome !== 'other_mode')
        await this.phones.refund(tx, result.counted);
      return compared;
    });
    if (verification.outcome === 'wrong')
      await this.phones.recordFailure(challenge, visitor, access.isTrusted);
    return verification;
  }

  /** The one-time password, if it can be entered. */
  private async findOpen(id: string, app: Mode | undefined): Promise<OtpChallenge | null> {
    const challenge = await this.repository.findOpenChallenge(id, this.clock.now());
    return challenge && !(await this.isTooShort(challenge, app)) ? challenge : null;
  }

  /**
   * Whether the one-time password of a stranger has become too short. Otherwise an attacker could request thousands before the first
   * guess, which would all have six digits. No sign-in to a test app opens a real account, and fixed codes have six digits.
   */
  private async isTooShort(
    { digits, maxAttempts }: OtpChallenge,
    app: Mode | undefined,
  ): Promise<boolean> {
    const isStranger = maxAttempts === MAX_ATTEMPTS.stranger && app?.test !== true;
    return isStranger && digits < (await this.digitsForStrangers());
  }

  private async digitsForStrangers(): Promise<number> {
    return (await this.phones.needsLongPasswords()) ? LONG_DIGITS : DIGITS;
  }

  /** Whether an operator paused all messages. */
  isPaused(): Promise<boolean> {
    return this.repository.isPaused();
  }

  /** The wrong one-time passwords of the last 24 hours. */
  countWrong(): Promise<number> {
    return this.phones.countWrong();
  }

  private async compare(
    tx: Transaction,
    { phone, password, visitor, app }: Guess,
    isTrusted: boolean,
    onSignIn: OnSignIn,
  ): Promise<Verification> {
    const now = this.clock.now();
    const id = challengeId(visitor, phone);
    const challenge = await this.repository.countAttempt(tx, id, now);
    if (!challenge) return { outcome: 'no_valid_password' };
    const { userId, codeHash } = challenge;
    const isCorrect = this.matches({ id, userId, codeHash }, password) && userId !== null;
    if (isTrusted && !isCorrect)
      await this.phones.recordTrustedDevice(tx, challenge, visitor.browserHash);
    if (!isTrusted && (await this.phones.recordStranger(tx, challenge, { isCorrect })))
      return { outcome: 'locked' };
    if (!isCorrect) {
      await this.phones.countWrongCode(tx);
      return { outcome: 'wrong' };
    }
    const user = await this.users.active(userId, tx);
    // The number may have been reassigned since the password was sent, or the fixed code may have changed.
    if (user?.phone !== phone || (isTestUser(user) && user.testCodeHash !== codeHash))
      return { outcome: 'no_valid_password' };
    if (!canAuthorize(user, app)) {
      await this.phones.recordRefusal(tx, user, isTrusted);
      return { outcome: 'other_mode' };
    }
    if (!(await this.repository.consumeChallenge(tx, id, now)))
      return { outcome: 'no_valid_password' };
    await this.phones.recordSignIn(tx, user, visitor, isTrusted);
    // The report compares sign-ins with messages, to find messages that nobody uses.
    if (!isTestUser(user)) await this.repository.count(tx, countKeyOf(challenge), 'signed_in');
    await onSignIn(tx, user);
    return { outcome: 'verified', user };
  }

  /** Whether it is the one-time password, or the fixed code of the test member. Takes the same time for both. */
  private matches(
    { id, userId, codeHash }: Pick<OtpChallenge, 'id' | 'userId' | 'codeHash'>,
    password: string,
  ): boolean {
    const hashes = [this.hash(id, password), testCodeHash(this.config, userId ?? '', password)];
    return hashes.filter((hash) => digestsEqual(codeHash, hash)).length > 0;
  }

  private hash(id: string, password: string): string {
    return hmacSha256(this.config.otp.pepper, `${id}|${password}`);
  }
}

/** The one-time password of a phone works only in the browser that requested it. 160 bits, which the column holds. */
function challengeId({ browserHash }: Visitor, phone: string): string {
  return sha256(`${browserHash}|${phone}`).slice(0, 40);
}

/** Random digits, by default six (NIST SP 800-63B, section 5.1.3.2). */
export function newOneTimePassword(digits = DIGITS): string {
  return String(randomInt(10 ** digits)).padStart(digits, '0');
}

/** This number of digits, by default six, or undefined. Accepts spaces, dashes, invisible marks and the digits of any script. */
export function parseOneTimePassword(typed: string, digits = DIGITS): string | undefined {
  const text = plainNumber(typed).replaceAll(/[\s-]/g, '');
  return /^\d+$/.test(text) && text.length === digits ? text : undefined;
}
