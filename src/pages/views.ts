import type { Scope } from '../platform/access/scopes.js';
import type { Text } from './translations/markup.js';
import type { Language } from './language.js';

/** Hidden fields that bind a form to the session of the user. */
export interface SessionBinding {
  /** Proves that the form came from our own page (RFC 6749 §10.12). */
  token: string;
  /** On account pages, the client id of the connected app whose page is shown after a sign-in or sign-out. */
  next?: string;
  /** The language that the app requested, sent from page to page as `ui_locales`. */
  uiLocale?: Language;
}

/** Binds a form to an authorization request or to a sign-in to the account. */
export interface FormBinding extends SessionBinding {
  /** Id of the authorization request or, on account pages, of the sign-in. Not a database transaction. */
  transaction: string;
}

interface SignInView extends FormBinding {
  /** Prefix of the forms' paths, such as `/oauth/authorize`. */
  path: string;
  /** Undefined for a sign-in to the account's own pages. */
  appName?: string;
}

/** Posts `phone` to `<path>/sign-in`. */
export interface PhoneView extends SignInView {
  /** As the user typed it. */
  phone?: string;
  error?: string;
}

/** Posts the one-time password as `code`, and `phone`, to `<path>/verify`. */
export interface CodeView extends SignInView {
  /** E.164, shown in full, so that the user sees a wrong digit. */
  phone: string;
  /** Where the user can enter another number. */
  phonePageUrl: string;
  error?: string;
  notice?: string;
}

/** A checkbox of the consent page. */
export interface ScopeChoice {
  name: Scope;
  checked: boolean;
}

/** Posts `decision` and every selected `scope` to `/oauth/authorize/decision`. */
export interface ConsentView extends FormBinding {
  appName: string;
  /** Host of the redirect URI; the name of the app for a private-use scheme. */
  redirectHost: string;
  /** The form sends the id as `user`, because another user may sign in before the user submits it. */
  user: { id: string; name: string; maskedPhone: string };
  scopes: readonly ScopeChoice[];
  /** Whether the user allowed this app before. */
  hasEarlierGrant: boolean;
  /** Seconds. */
  lifetimes: { refreshIdle: number; grant: number };
  /** Absolute, so that the user can note it down. */
  appsUrl: string;
}

export interface ConnectedAppView {
  clientId: string;
  name: string;
  scopes: readonly Scope[];
  /** Time of the first grant. */
  grantedAt: Date;
  /** Null if the app has not used its access yet. */
  lastUsedAt: Date | null;
}

/** Posts each selected `client_id`, or `all`, to `/account/apps/revoke`. */
export interface ConnectedAppsView extends SessionBinding {
  user: { name: string; maskedPhone: string };
  apps: readonly ConnectedAppView[];
  error?: string;
  notice?: string;
}

/** Posts the `client_id` of the app to `/account/apps/revoke`. */
export interface OneConnectedAppView extends SessionBinding {
  user: { name: string; maskedPhone: string };
  app: ConnectedAppView;
}

/** A public post, at `/post/<id>`. */
export interface PostView {
  title: string | null;
  content: string | null;
  author: string;
  neighborhood: string | null;
  createdAt: Date;
  tags: readonly string[];
  /** Absolute http or https URLs. The page links to them, but never loads them. */
  images: readonly string[];
}

/** A message or an error. */
export interface MessageView {
  /** Without the prefix "Error:" that `error` adds. */
  title: string;
  paragraphs: readonly Text[];
  error?: boolean;
  footer?: string;
  link?: { href: string; text: string };
}

/** The landing page, at `/`. */
export interface LandingView {
  docsUrl: string;
  openApiUrl: string;
  guideUrl: string;
  errorsUrl: string;
  /** The demo user, if there is one. */
  demo?: { phone: string };
}

export interface ErrorCodeEntry {
  code: string;
  status: number;
  remedy: Text;
}

export interface FieldCodeEntry {
  code: string;
  meaning: string;
}

export interface OAuthCodeEntry {
  code: string;
  /** HTTP statuses, and "redirect" if the redirect URI receives the code. */
  statuses: readonly ('redirect' | number)[];
  remedy: string;
}

/** The error codes, at `/docs/errors`. Anchors: `<code>` (the target of `doc_url`), `field-<code>` and `oauth-<code>`. */
export interface ErrorCodesView {
  api: readonly ErrorCodeEntry[];
  fields: readonly FieldCodeEntry[];
  /** A response body with `errors`, as JSON. */
  fieldsExample: string;
  oauth: readonly OAuthCodeEntry[];
  docsUrl: string;
  guideUrl: string;
}
