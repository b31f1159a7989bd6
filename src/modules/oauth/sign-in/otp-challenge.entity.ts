import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNTER, HASH, ID, optional, text, TIME } from '../../../database/columns.js';

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
