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

/** A user's consent to an app. Every code and token belongs to one grant. */
@Entity('grants')
@Index('ix_grants_user_id', ['userId', 'clientId'])
@Index('ix_grants_client_id', ['clientId', 'id'])
@Index('ix_grants_expires_at', ['expiresAt'])
@Index('ix_grants_revoked_at', ['revokedAt'])
export class Grant {
  @PrimaryColumn(ID)
  id: string;

  @Column(ID)
  userId: string;

  @Column(ID)
  clientId: string;

  /** The scopes that the user granted. */
  @Column(SCOPE)
  scope: string;

  /** The scopes that the app requested. */
  @Column(SCOPE)
  requestedScope: string;

  /** The granted scopes that the user did not allow in a later decision. Null for none. */
  @Column(optional(SCOPE))
  withdrawnScope: string | null;

  /** SHA-256 of how the app presented itself: see `identityHashOf`. Null for a grant of version 1.1, or of an operator. */
  @Column(optional(HASH))
  identityHash: string | null;

  @Column(TIME)
  createdAt: Date;

  @Column(TIME)
  expiresAt: Date;

  @Column(optional(TIME))
  revokedAt: Date | null;

  /** The last use, accurate to a minute. */
  @Column(optional(TIME))
  lastUsedAt: Date | null;
}

/** An authorization code (SHA-256), with the values that its exchange must match (RFC 6749 §4.1.3, RFC 7636 §4.4). */
@Entity('authorization_codes')
@Index('ix_authorization_codes_grant_id', ['grantId', 'consumedAt', 'expiresAt'])
@Index('ix_authorization_codes_consumed_at', ['consumedAt', 'expiresAt'])
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

/** An access token (SHA-256). It is valid only while its grant, app and user are active. */
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

/** A refresh token (SHA-256). It is used once and replaced by its successor (RFC 9700 §4.14.2). */
@Entity('refresh_tokens')
@Index('ix_refresh_tokens_grant_id', ['grantId', 'consumedAt', 'expiresAt'])
@Index('ix_refresh_tokens_consumed_at', ['consumedAt', 'expiresAt'])
@Index('ix_refresh_tokens_answer_expires_at', ['responseExpiresAt'])
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

  /** The hash of the refresh token that this one replaced. */
  @Column(optional(HASH))
  predecessorHash: string | null;

  /**
   * The response to this token, encrypted with a key derived from the token. Null until the token is used. Cleared when the successor
   * is used, or by the prune job after the retry window.
   */
  @Column({ ...optional(text(700)), name: 'sealed_answer' })
  encryptedResponse: string | null;

  /** End of the retry window. */
  @Column({ ...optional(TIME), name: 'answer_expires_at' })
  responseExpiresAt: Date | null;

  /** When the response was first repeated more than two seconds after the token was used. Null if it was not. */
  @Column(optional(TIME))
  replayedAt: Date | null;
}
