import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, optional, text, URL_TEXT } from '../../../database/columns.js';

/** One registered redirection URI (RFC 6749 §3.1.2.2), in the order of registration. */
@Entity('app_redirect_uris')
@Index('ix_app_redirect_uris_origin', ['origin'])
export class AppRedirectUri {
  @PrimaryColumn(ID)
  clientId: string;

  @PrimaryColumn({ type: 'smallint' })
  position: number;

  @Column(URL_TEXT)
  uri: string;

  /** Where a browser app with this redirect calls from, as `callingOrigin` spells it; null for private-use schemes. */
  @Column(optional(text(300)))
  origin: string | null;
}
