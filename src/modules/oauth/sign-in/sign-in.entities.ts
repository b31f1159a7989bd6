import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNTER, HASH, ID, optional, text, TIME } from '../../../platform/database/columns.js';

/** A browser in which a user signed in. Saves the next one-time password, never the consent. */
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

/** A browser in which somebody signed in with this phone before: strangers cannot use up what it may try. */
@Entity('known_browsers')
@Index('ix_known_browsers_signed_in_at', ['signedInAt'])
@Index('ix_known_browsers_phone', ['phone'])
export class TrustedDevice {
  /** SHA-256 of the browser's cookie. */
  @PrimaryColumn(HASH)
  browserHash: string;

  /** E.164. */
  @PrimaryColumn(text(16))
  phone: string;

  /** The last time. */
  @Column(TIME)
  signedInAt: Date;
}

/** The one-time password asked for in one sign-in; a newer one replaces it. */
@Entity('otp_challenges')
@Index('ix_otp_challenges_expires_at', ['expiresAt'])
@Index('ix_otp_challenges_phone', ['phone'])
export class OtpChallenge {
  /** What the sign-in forms call the transaction: one challenge each. */
  @PrimaryColumn(ID)
  transactionId: string;

  /** E.164. */
  @Column(text(16))
  phone: string;

  /** Null when nobody has this phone: such a challenge cannot be met. */
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

/** Wrong one-time passwords in a row for one phone (NIST SP 800-63B, section 5.2.2); the row goes with the next right one. */
@Entity('otp_failures')
@Index('ix_otp_failures_last_at', ['lastAt'])
export class OtpFailures {
  /** E.164. */
  @PrimaryColumn(text(16))
  phone: string;

  @Column(COUNTER)
  failures: number;

  @Column(TIME)
  lastAt: Date;

  /** Until then nobody signs in with this phone. */
  @Column(optional(TIME))
  lockedUntil: Date | null;
}
