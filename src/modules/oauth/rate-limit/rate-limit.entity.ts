import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNTER, HASH, TIME } from '../../../platform/database/columns.js';

/** The attempts of a key in one time slot. */
@Entity('throttle_hits')
@Index('ix_throttle_hits_slot', ['slot'])
export class RateLimitHit {
  /** SHA-256 of the name of the limit and the key. */
  @PrimaryColumn(HASH)
  hash: string;

  @PrimaryColumn(TIME)
  slot: Date;

  @Column(COUNTER)
  hits: number;
}
