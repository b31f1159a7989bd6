import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ID, URL_TEXT } from '../../../database/columns.js';

/** One registered redirection URI (RFC 6749 §3.1.2.2), in the order of registration. */
@Entity('app_redirect_uris')
export class AppRedirectUri {
  @PrimaryColumn(ID)
  clientId: string;

  @PrimaryColumn({ type: 'smallint' })
  position: number;

  @Column(URL_TEXT)
  uri: string;
}
