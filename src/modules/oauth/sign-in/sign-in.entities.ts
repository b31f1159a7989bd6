import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import {
  COUNTER,
  HASH,
  ID,
  INTEGER,
  optional,
  text,
  TIME,
} from '../../../platform/database/columns.js';
import type { AppConfig } from '../../../platform/config/app-config.js';
import { hmacSha256 } from '../../../platform/secrets.js';

/** A signed-in browser. */
@Entity('sign_in_sessions')
@Index('ix_sign_in_sessions_expires_at', ['expiresAt'])
@Index('ix_sign_in_sessions_user_id', ['userId'])
export class SignInSession {
  /** SHA-256 of the cookie. */
  @PrimaryColumn(HASH)
  hash: string;

  @Column(ID)
  userId: string;

  @Column(TIME)
  createdAt: Date;

  @Column(TIME)
  expiresAt: Date;
}

/**
 * The newest one-time password that a browser requested for a phone. It works in each sign-in of that browser, so that a user who
 * starts again can enter it.
 */
@Entity('otp_challenges')
@Index('ix_otp_challenges_expires_at', ['expiresAt'])
@Index('ix_otp_challenges_phone', ['phone'])
export class OtpChallenge {
  /** A digest of the browser and the phone. */
  @PrimaryColumn({ ...ID, name: 'transaction_id' })
  id: string;

  /** E.164. */
  @Column(text(16))
  phone: string;

  /** Null if no active user has this phone. Then no password is correct. */
  @Column(optional(ID))
  userId: string | null;

  /** HMAC-SHA-256 under the server's pepper. */
  @Column(HASH)
  codeHash: string;

  /** Six, or eight while many wrong one-time passwords are entered. */
  @Column({ ...INTEGER, default: 6 })
  digits: number;

  @Column(COUNTER)
  attempts: number;

  /** Guesses: fewer for browsers that did not sign in with this phone before. */
  @Column({ ...INTEGER, default: 5 })
  maxAttempts: number;

  @Column(TIME)
  createdAt: Date;

  @Column(TIME)
  expiresAt: Date;

  @Column(optional(TIME))
  consumedAt: Date | null;
}

/** Consecutive wrong one-time passwords of strangers for a phone (NIST SP 800-63B, section 5.2.2). A sign-in deletes the row. */
@Entity('otp_failures')
@Index('ix_otp_failures_last_at', ['lastAttemptAt'])
export class OtpFailures {
  /**
   * A keyed hash of the number, because the number may belong to somebody who never used this service: see `failuresKey`. Version 1.1
   * stores the number (E.164).
   */
  @PrimaryColumn(text(16))
  phone: string;

  @Column(COUNTER)
  failures: number;

  /** The last attempt to enter a one-time password. */
  @Column({ ...TIME, name: 'last_at' })
  lastAttemptAt: Date;

  @Column(optional(TIME))
  lockedUntil: Date | null;
}

/**
 * The key of the failures of a phone: 96 bits of an HMAC, which the column holds. Without the pepper, a hash of a phone number could be
 * reversed by trying all numbers.
 */
export function failuresKey({ otp }: Pick<AppConfig, 'otp'>, phone: string): string {
  const digest = Buffer.from(hmacSha256(otp.pepper, `failures|${phone}`), 'hex');
  return digest.subarray(0, 12).toString('base64url');
}

/**
 * The results of requested one-time passwords. `sent`: handed to the gateway, which did not reject it. `failed`: not sent, after all
 * retries. `no_account`: the phone has no account, so nothing was sent. `signed_in`: it was entered, and is also counted as `sent`.
 */
export const OTP_RESULTS = ['sent', 'failed', 'no_account', 'signed_in'] as const;

export type OtpResult = (typeof OTP_RESULTS)[number];

/** The one-time passwords that were requested within an hour, by country, app and result. */
@Entity('otp_counts')
export class OtpCount {
  /** The start of the hour of the request. */
  @PrimaryColumn(TIME)
  hour: Date;

  /** ISO 3166-1 alpha-2; `001` for numbers without a country, such as those of satellite networks. */
  @PrimaryColumn(text(3))
  country: string;

  /** Empty for a sign-in to the account pages. */
  @PrimaryColumn(ID)
  clientId: string;

  @PrimaryColumn(text(16))
  result: OtpResult;

  @Column(COUNTER)
  total: number;
}

/** A row means that an operator paused all one-time passwords. */
@Entity('otp_pauses')
export class OtpPause {
  /** Always `all`. */
  @PrimaryColumn(text(16))
  id: string;

  @Column(TIME)
  pausedAt: Date;
}
