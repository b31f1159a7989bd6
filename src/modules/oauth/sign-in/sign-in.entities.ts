import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNTER, HASH, ID, optional, text, TIME } from '../../../platform/database/columns.js';

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

  @Column(COUNTER)
  attempts: number;

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
  /** E.164. */
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
