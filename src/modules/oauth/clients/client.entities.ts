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

/** A registered client (RFC 6749 §2). */
@Entity('apps')
export class App {
  @PrimaryColumn(ID)
  clientId: string;

  @Column(text(200))
  name: string;

  /** The client type of RFC 6749 §2.1. */
  @Column(text(16))
  kind: 'public' | 'confidential';

  /** What the app may ask for. */
  @Column(SCOPE)
  scope: string;

  @Column(text(16))
  status: 'enabled' | 'disabled';

  @Column(TIME)
  createdAt: Date;
}

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
