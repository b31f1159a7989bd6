import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, optional, SCOPE, TIME } from '../../../database/columns.js';

/** What one consent gave one app: the family of every code and token that follows. Revoking it kills them all. */
@Entity('grants')
@Index('ix_grants_user_id', ['userId', 'clientId'])
@Index('ix_grants_expires_at', ['expiresAt'])
@Index('ix_grants_revoked_at', ['revokedAt'])
export class Grant {
  @PrimaryColumn(ID)
  id: string;

  @Column(ID)
  userId: string;

  @Column(ID)
  clientId: string;

  @Column(SCOPE)
  scope: string;

  /** What the app had asked for: a scope that is not in it was never refused. */
  @Column(SCOPE)
  requestedScope: string;

  @Column(TIME)
  createdAt: Date;

  /** No refresh goes past this moment. */
  @Column(TIME)
  expiresAt: Date;

  @Column(optional(TIME))
  revokedAt: Date | null;

  /** When the app last used or refreshed a token of it, to the minute; null before the first time. */
  @Column(optional(TIME))
  lastUsedAt: Date | null;
}
