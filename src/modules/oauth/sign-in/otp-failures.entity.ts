import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNTER, optional, text, TIME } from '../../../database/columns.js';

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
