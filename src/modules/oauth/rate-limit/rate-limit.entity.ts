import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNTER, HASH, TIME } from '../../../platform/database/columns.js';

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
