import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNTER, HASH, text, TIME } from '../../../platform/database/columns.js';

/** The slot of the row that transactions lock before they count the attempts of a key. */
export const LOCK_SLOT = new Date(0);

/** The attempts of a key in one time slot. The row with the slot `LOCK_SLOT` is the lock of the key. */
@Entity('throttle_hits')
@Index('ix_throttle_hits_slot', ['slot'])
export class RateLimitHit {
  /** SHA-256 of the name of the limit and the key. */
  @PrimaryColumn(HASH)
  hash: string;

  /** Start of the slot. */
  @PrimaryColumn(TIME)
  slot: Date;

  @Column(COUNTER)
  hits: number;
}

/** A browser that signed in with this phone before. */
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

  /** The last sign-in. */
  @Column(TIME)
  signedInAt: Date;

  /** Consecutive wrong one-time passwords from this browser since the last sign-in. */
  @Column(COUNTER)
  failures: number;
}
