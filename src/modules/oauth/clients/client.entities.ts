import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import {
  BYTES,
  FLAG,
  HASH,
  ID,
  INTEGER,
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

  /** The scopes that the app may request. */
  @Column(SCOPE)
  scope: string;

  @Column(text(16))
  status: 'enabled' | 'disabled';

  /** Whether authorization requests must have a code challenge although the app is confidential. Public apps always need one. */
  @Column(FLAG)
  requiresPkce: boolean;

  /** When an operator hid the public pages of the app's posts. Null if they are shown. */
  @Column(optional(TIME))
  postsHiddenAt: Date | null;

  /** The company or person behind the app. */
  @Column(optional(text(60)))
  publisher: string | null;

  /** The operator's own reference of the partner, such as a customer number. Not shown to users. */
  @Column(optional(text(100)))
  reference: string | null;

  @Column(optional(URL_TEXT))
  homepageUrl: string | null;

  @Column(optional(URL_TEXT))
  privacyUrl: string | null;

  @Column(optional(URL_TEXT))
  termsUrl: string | null;

  /** Whether an operator verified the publisher. */
  @Column({ ...FLAG, name: 'verified' })
  isVerified: boolean;

  /** The SHA-256 of the logo's bytes. */
  @Column(optional(HASH))
  logoHash: string | null;

  /** Origins besides those of the redirect URIs, which CORS allows if the app is public. Separated by spaces. */
  @Column(optional(URL_TEXT))
  origins: string | null;

  /** Whether only test members can authorize the app. Never changes. */
  @Column(FLAG)
  test: boolean;

  /** The lifetime of the access tokens of a test app. Null for the default, which real apps always have. */
  @Column(optional(INTEGER))
  accessTokenSeconds: number | null;

  @Column(TIME)
  createdAt: Date;
}

/** A client secret of a confidential app (SHA-256). */
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

  @Column(text(4))
  lastFour: string;

  @Column(TIME)
  createdAt: Date;

  @Column(optional(TIME))
  expiresAt: Date | null;

  @Column(optional(TIME))
  lastUsedAt: Date | null;
}

/** A registered redirection URI (RFC 6749 §3.1.2.2). */
@Entity('app_redirect_uris')
@Index('ix_app_redirect_uris_origin', ['origin'])
export class AppRedirectUri {
  @PrimaryColumn(ID)
  clientId: string;

  @PrimaryColumn({ type: 'smallint' })
  position: number;

  @Column(URL_TEXT)
  uri: string;

  /** The result of `corsOrigin`. CORS allows this origin if the app is public. Null for private-use schemes. */
  @Column(optional(text(300)))
  origin: string | null;
}

/** Some bytes of the logo of an app, because a column holds at most 65,535 on MySQL. */
@Entity('app_logo_parts')
export class AppLogoPart {
  @PrimaryColumn(ID)
  clientId: string;

  @PrimaryColumn({ type: 'smallint' })
  position: number;

  @Column(BYTES)
  content: Buffer;
}
