import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNTER, HASH, TIME } from '../../../platform/database/columns.js';

/** Hits of one key within one short slot of time; the slots of the last window add up to its rolling count. */
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
