import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { HASH, ID, optional, text, TIME, URL_TEXT } from '../../../database/columns.js';

/** An authorization code as its SHA-256, with what its exchange must match (RFC 6749 §4.1.3, RFC 7636 §4.4). */
@Entity('authorization_codes')
@Index('ix_authorization_codes_grant_id', ['grantId', 'consumedAt', 'expiresAt'])
@Index('ix_authorization_codes_consumed_at', ['consumedAt', 'expiresAt'])
@Index('ix_authorization_codes_code_challenge', ['codeChallenge'])
export class AuthorizationCode {
  @PrimaryColumn(HASH)
  hash: string;

  @Column(ID)
  grantId: string;

  @Column(URL_TEXT)
  redirectUri: string;

  @Column(optional(text(43)))
  codeChallenge: string | null;

  @Column(TIME)
  createdAt: Date;

  @Column(TIME)
  expiresAt: Date;

  @Column(optional(TIME))
  consumedAt: Date | null;
}
