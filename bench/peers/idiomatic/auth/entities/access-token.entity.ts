import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { Grant } from './grant.entity.js';

@Entity('access_tokens')
export class AccessToken {
  /** SHA-256 in hex. */
  @PrimaryColumn({ length: 64 })
  hash: string;

  @ManyToOne(() => Grant, { nullable: false })
  @JoinColumn({ name: 'grant_id' })
  grant: Grant;

  /** Separated by spaces. */
  @Column({ length: 255 })
  scope: string;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt: Date;

  @Column({ name: 'expires_at', type: 'datetime', precision: 3 })
  expiresAt: Date;

  @Column({ name: 'revoked_at', type: 'datetime', precision: 3, nullable: true })
  revokedAt: Date | null;
}
