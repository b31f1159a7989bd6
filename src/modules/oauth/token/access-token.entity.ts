import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { HASH, ID, optional, SCOPE, TIME } from '../../../database/columns.js';

/** An access token as its SHA-256. Whether it is alive is also its grant's, its app's and its user's business. */
@Entity('access_tokens')
@Index('ix_access_tokens_grant_id', ['grantId'])
@Index('ix_access_tokens_expires_at', ['expiresAt'])
export class AccessToken {
  @PrimaryColumn(HASH)
  hash: string;

  @Column(ID)
  grantId: string;

  @Column(SCOPE)
  scope: string;

  @Column(TIME)
  createdAt: Date;

  @Column(TIME)
  expiresAt: Date;

  @Column(optional(TIME))
  revokedAt: Date | null;
}
