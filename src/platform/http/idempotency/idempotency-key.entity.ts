import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { HASH, ID, TEXT, TIME } from '../../database/columns.js';

/** The result of a POST with an Idempotency-Key: one row per app, user and key, committed with the result. */
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

  /** SHA-256 of route and body: another request under the same key is refused. */
  @Column(HASH)
  requestHash: string;

  /** JSON of the members that the service added to the request body: a repetition brings the others again. */
  @Column(TEXT)
  made: string;

  @Column(TIME)
  createdAt: Date;

  @Column(TIME)
  expiresAt: Date;
}
