import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNTER, HASH, TIME } from '../../../platform/database/columns.js';

/** Attempts of one key within one slot of time. */
@Entity('throttle_hits')
@Index('ix_throttle_hits_slot', ['slot'])
export class RateLimitHit {
  /** SHA-256 of the limit's name and the key. */
  @PrimaryColumn(HASH)
  hash: string;

  @PrimaryColumn(TIME)
  slot: Date;

  @Column(COUNTER)
  hits: number;
}
