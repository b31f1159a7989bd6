import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import {
  HASH,
  ID,
  optional,
  SCOPE,
  text,
  TIME,
  URL_TEXT,
} from '../../../platform/database/columns.js';

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

/** A refresh token as its SHA-256: used once, then followed by the next (RFC 9700 §4.14.2). */
@Entity('refresh_tokens')
@Index('ix_refresh_tokens_grant_id', ['grantId', 'consumedAt', 'expiresAt'])
@Index('ix_refresh_tokens_consumed_at', ['consumedAt', 'expiresAt'])
@Index('ix_refresh_tokens_answer_expires_at', ['answerExpiresAt'])
export class RefreshToken {
  @PrimaryColumn(HASH)
  hash: string;

  @Column(ID)
  grantId: string;

  @Column(TIME)
  createdAt: Date;

  @Column(TIME)
  expiresAt: Date;

  @Column(optional(TIME))
  consumedAt: Date | null;

  /** The refresh token that this one followed; null for the first of a grant. */
  @Column(optional(HASH))
  predecessorHash: string | null;

  /** What this token was answered with, encrypted under the token itself, until its successor is used. */
  @Column(optional(text(700)))
  sealedAnswer: string | null;

  /** Until when it may be answered so again; null without an answer. */
  @Column(optional(TIME))
  answerExpiresAt: Date | null;
}
