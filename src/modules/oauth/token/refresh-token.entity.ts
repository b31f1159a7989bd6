import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { HASH, ID, optional, text, TIME } from '../../../database/columns.js';

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
