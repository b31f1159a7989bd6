import type { Scope } from '../platform/access/scopes.js';
import type { Text } from './translations/markup.js';
import type { Language } from './language.js';

/** Ties a form to the session of who is signed in; rendered as hidden fields. */
export interface SessionBinding {
  /** Secret of what the form belongs to; proves that it came from our own page (RFC 6749 §10.12). */
  token: string;
  /** In the account's pages, the client id of the app that they were opened for. */
  next?: string;
  /** The language that an app asked for: its request keeps it from page to page, as the field `ui_locales`. */
  uiLocale?: Language;
}

/** Ties a form to the transaction it belongs to: an authorization request, or a sign-in to the account. */
export interface FormBinding extends SessionBinding {
  /** Id of the transaction. */
  transaction: string;
}

/** What the pages of signing in are for. */
export interface SignInView extends FormBinding {
  /** What the addresses of the forms begin with, such as `/oauth/authorize`. */
  path: string;
  /** Whom to continue to, where an app asked; else it is the account's own pages. */
  appName?: string;
}

/** Sign-in, first step: the phone number. Posts `phone` to `<path>/sign-in`. */
export interface PhoneView extends SignInView {
  /** What the user typed before, shown again as it was. */
  phone?: string;
  /** One sentence that says what to correct; shown beside the field and in the summary. */
  error?: string;
}

/** Sign-in, second step: the one-time password. Posts `code` and `phone` to `<path>/verify`. */
export interface CodeView extends SignInView {
  /** E.164, as it was typed: shown whole, so that a wrong digit is seen, and kept in hidden fields. */
  phone: string;
  /** One sentence that says what to correct; shown beside the field and in the summary. */
  error?: string;
  /** One sentence of news that is no error, such as "We sent a new code." */
  notice?: string;
}

/** One requested scope on the consent page. */
export interface ScopeChoice {
  /** The value of its box. */
  name: Scope;
  checked: boolean;
}

/** The question itself. Posts `decision` and every ticked `scope` to `/oauth/authorize/decision`. */
export interface ConsentView extends FormBinding {
  appName: string;
  /** Where the answer goes: the host of the redirect URI, or its private-use scheme. */
  redirectHost: string;
  /** Whose page this is; the id comes back as `user`, since somebody else may sign in before it does. */
  user: { id: string; name: string; maskedPhone: string };
  scopes: readonly ScopeChoice[];
  /** Seconds until unused access ends, and until all access ends. */
  lifetimes: { refreshIdle: number; grant: number };
  /** The whole address of the connected apps, to be read and noted. */
  appsUrl: string;
}

/** An app that has access to the account. */
export interface ConnectedAppView {
  clientId: string;
  name: string;
  /** What it may do. */
  scopes: readonly Scope[];
  /** The first time. */
  grantedAt: Date;
  /** Null before the first time. */
  lastUsedAt: Date | null;
}

/** Every app with access to the account. Posts each ticked `client_id`, or `all`, to `/account/apps/revoke`. */
export interface ConnectedAppsView extends SessionBinding {
  user: { name: string; maskedPhone: string };
  apps: readonly ConnectedAppView[];
  /** One sentence that says what to correct; shown beside the list and in the summary. */
  error?: string;
  /** One sentence of news that is no error. */
  notice?: string;
}

/** One of them. Posts its `client_id` to `/account/apps/revoke`. */
export interface OneConnectedAppView extends SessionBinding {
  user: { name: string; maskedPhone: string };
  app: ConnectedAppView;
}

/** A public post, at `/post/<id>`. Texts are the author's, whatever they hold. */
export interface PostView {
  /** Without one, the page is named after the author. */
  title: string | null;
  content: string | null;
  /** Name of who wrote it. */
  author: string;
  neighborhood: string | null;
  createdAt: Date;
  tags: readonly string[];
  /** Absolute http or https URLs. They are linked to, never loaded. */
  images: readonly string[];
}

/** A page that explains or reports. */
export interface MessageView {
  /** Text of `<title>`, without the "Error:" that `error` puts before it. */
  title: string;
  paragraphs: readonly Text[];
  error?: boolean;
  /** One sentence at the end of the page. */
  footer?: string;
  /** Where to go on. */
  link?: { href: string; text: string };
}

/** The developers' front page, at `/`. */
export interface LandingView {
  /** Path or URL, on this server, of the documentation. */
  docsUrl: string;
  /** Path or URL, on this server, of the OpenAPI document. */
  openApiUrl: string;
  /** The same of the guide for apps that integrate. */
  guideUrl: string;
  /** The same of the list of error codes. */
  errorsUrl: string;
  /** Where the demo app and the demo user exist here: the phone number to sign in with. */
  demo?: { phone: string };
}

/** One code of the developer API's errors. */
export interface ErrorCodeEntry {
  code: string;
  status: number;
  /** What a developer does about it. */
  remedy: Text;
}

/** One code of what is wrong with a field. */
export interface FieldCodeEntry {
  code: string;
  meaning: string;
}

/** One code of the OAuth endpoints' errors. */
export interface OAuthCodeEntry {
  code: string;
  /** With which statuses it is answered, and whether the browser takes it to the app's redirect URI. */
  told: readonly ('redirect' | number)[];
  /** What a developer does about it. */
  remedy: string;
}

/**
 * The list of error codes, at `/docs/errors`. Anchors: those of the API by themselves, as `doc_url` names them, those of
 * fields after `field-` and those of OAuth after `oauth-`.
 */
export interface ErrorCodesView {
  api: readonly ErrorCodeEntry[];
  fields: readonly FieldCodeEntry[];
  /** A whole body with `errors`, as JSON. */
  fieldsExample: string;
  oauth: readonly OAuthCodeEntry[];
  docsUrl: string;
  guideUrl: string;
}
