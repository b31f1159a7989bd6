import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { HASH, ID, optional, text, TIME } from '../../../database/columns.js';

/** One client secret of a confidential app, as its SHA-256. */
@Entity('app_secrets')
@Index('ix_app_secrets_client_id', ['clientId'])
@Index('ux_app_secrets_hash', ['hash'], { unique: true })
export class AppSecret {
  @PrimaryColumn(ID)
  id: string;

  @Column(ID)
  clientId: string;

  @Column(HASH)
  hash: string;

  /** The last four characters, so that an operator can tell secrets apart. */
  @Column(text(4))
  lastFour: string;

  @Column(TIME)
  createdAt: Date;

  /** Null while the secret has no end. */
  @Column(optional(TIME))
  expiresAt: Date | null;

  @Column(optional(TIME))
  lastUsedAt: Date | null;
}
