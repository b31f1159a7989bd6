import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { HASH, ID, TEXT, TIME } from '../database/columns.js';

/** The stored answer of a POST that carried an Idempotency-Key, one per app, user and key. */
@Entity('idempotency_keys')
@Index('ix_idempotency_keys_expires_at', ['expiresAt'])
export class IdempotencyKey {
  /** SHA-256 of app, user and key. */
  @PrimaryColumn(HASH)
  hash: string;

  @Column(ID)
  clientId: string;

  @Column(ID)
  userId: string;

  /** SHA-256 of route and body: another request under the same key is refused. */
  @Column(HASH)
  requestHash: string;

  @Column({ type: 'smallint' })
  status: number;

  @Column(TEXT)
  body: string;

  @Column(TIME)
  createdAt: Date;

  @Column(TIME)
  expiresAt: Date;
}
