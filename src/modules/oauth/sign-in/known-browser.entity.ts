import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { HASH, text, TIME } from '../../../database/columns.js';

/** A browser in which somebody signed in with this phone before: strangers cannot use up what it may try. */
@Entity('known_browsers')
@Index('ix_known_browsers_signed_in_at', ['signedInAt'])
@Index('ix_known_browsers_phone', ['phone'])
export class KnownBrowser {
  /** SHA-256 of the browser's cookie. */
  @PrimaryColumn(HASH)
  browserHash: string;

  /** E.164. */
  @PrimaryColumn(text(16))
  phone: string;

  /** The last time. */
  @Column(TIME)
  signedInAt: Date;
}
