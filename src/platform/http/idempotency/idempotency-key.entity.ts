import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { HASH, ID, TEXT, TIME } from '../../database/columns.js';

/** A POST with an Idempotency-Key: one row per app, user and key, committed with the result. */
@Entity('idempotency_keys')
@Index('ix_idempotency_keys_expires_at', ['expiresAt'])
@Index('ix_idempotency_keys_user_id', ['userId'])
export class IdempotencyKey {
  /** SHA-256 of app, user and key. */
  @PrimaryColumn(HASH)
  hash: string;

  @Column(ID)
  clientId: string;

  @Column(ID)
  userId: string;

  /** SHA-256 of route and body, to reject another request with the same key. */
  @Column(HASH)
  requestHash: string;

  /** The result as JSON, without the fields copied from the request body: a retry sends them again. */
  @Column({ ...TEXT, name: 'made' })
  result: string;

  @Column(TIME)
  createdAt: Date;

  @Column(TIME)
  expiresAt: Date;
}
