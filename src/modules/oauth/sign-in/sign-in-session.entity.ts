import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { HASH, ID, TIME } from '../../../database/columns.js';

/** A browser in which a user signed in. Saves the next one-time password, never the consent. */
@Entity('sign_in_sessions')
@Index('ix_sign_in_sessions_expires_at', ['expiresAt'])
@Index('ix_sign_in_sessions_user_id', ['userId'])
export class SignInSession {
  /** SHA-256 of the cookie. */
  @PrimaryColumn(HASH)
  hash: string;

  @Column(ID)
  userId: string;

  @Column(TIME)
  createdAt: Date;

  @Column(TIME)
  expiresAt: Date;
}
