import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import {
  HASH,
  ID,
  optional,
  SCOPE,
  TEXT,
  text,
  TIME,
  URL_TEXT,
} from '../../../platform/database/columns.js';

/** A pending or decided authorization request. Its id is the `transaction` field of forms. */
@Entity('authorizations')
@Index('ix_authorizations_expires_at', ['expiresAt'])
@Index('ix_authorizations_user_id', ['userId'])
export class Authorization {
  @PrimaryColumn(ID)
  id: string;

  @Column(ID)
  clientId: string;

  @Column(URL_TEXT)
  redirectUri: string;

  @Column(SCOPE)
  scope: string;

  @Column(TEXT)
  state: string;

  @Column(optional(text(43)))
  codeChallenge: string | null;

  /** The `prompt` that demands the most: a new sign-in despite a session, or the consent page despite an earlier consent. */
  @Column({ ...optional(text(14)), name: 'sign_in_prompt' })
  prompt: 'login' | 'select_account' | 'consent' | null;

  /** SHA-256 of the browser cookie. */
  @Column(HASH)
  browserHash: string;

  /** Not read since 1.1 and not written since 1.2. Version 1.3 drops it. */
  @Column({ ...HASH, default: '', select: false, insert: false, update: false })
  tokenHash?: string;

  /** The user who signed in for this authorization request. */
  @Column(optional(ID))
  userId: string | null;

  @Column({ ...optional(TIME), name: 'answered_at' })
  decidedAt: Date | null;

  @Column(TIME)
  createdAt: Date;

  @Column(TIME)
  expiresAt: Date;
}
