import type { Scope } from '../platform/access/scopes.js';
import type { Text } from './translations/markup.js';

/** Hidden fields that bind a form to the session of the user. */
export interface SessionBinding {
  /** Proves that the form came from our own page (RFC 6749 §10.12). */
  token: string;
  /** On account pages, the client id of the connected app whose page is shown after a sign-in or sign-out. */
  next?: string;
}

/** Binds a form to an authorization request or to a sign-in to the account. */
export interface FormBinding extends SessionBinding {
  /** Id of the authorization request or, on account pages, of the sign-in. Not a database transaction. */
  transaction: string;
}

/** How an app presents itself to users (RFC 7591 §2). */
export interface AppView {
  clientId: string;
  name: string;
  /** The organization behind the app. */
  publisher: string | null;
  isVerified: boolean;
  /** SHA-256 of the logo's bytes, in hex. Null for a monogram. */
  logoHash: string | null;
}

/** The pages of an authorization request say whether the app is a test app, and the account pages do not. */
interface RequestingAppView extends AppView {
  test?: boolean;
}

/** The signed-in user. */
export interface UserView {
  name: string;
  maskedPhone: string;
  photoUrl: string | null;
}

interface SignInView extends FormBinding {
  /** Prefix of the forms' paths, such as `/oauth/authorize`. */
  path: string;
  /** Undefined for a sign-in to the account's own pages. */
  app?: RequestingAppView;
}

/** A country in the list of the phone page. */
export interface CountryChoice {
  /** ISO 3166-1 alpha-2. */
  code: string;
  /** Without the `+`. */
  callingCode: string;
  name: string;
}

/** Posts `phone`, `country` and `checked` to `<path>/sign-in`. */
export interface PhoneView extends SignInView {
  /** As the user typed it. */
  phone?: string;
  /** Sorted by name. */
  countries: readonly CountryChoice[];
  /** The selected country, if one is known. */
  country?: string;
  /** E.164. The number that the user was asked to check. */
  checked?: string;
  /** Whether an operator paused all messages. */
  isPaused: boolean;
  notice?: Text;
  error?: Text;
}

/** Posts the one-time password as `code`, and `phone`, to `<path>/verify`. */
export interface CodeView extends SignInView {
  /** E.164. */
  phone: string;
  /** The phone in full, in groups of digits, so that the user sees a wrong digit. */
  formattedPhone: string;
  /** Where the user can enter another number. */
  phonePageUrl: string;
  /** Of the one-time password. */
  digits: number;
  /** Whether the one-time password can still be entered. */
  isOpen: boolean;
  /** After a wrong code, unless `error` says it. */
  attemptsLeft?: number;
  /** Until the user may request a new one-time password. */
  resendAfterSeconds: number;
  error?: Text;
  notice?: Text;
}

/** A checkbox of the consent page. */
export interface ScopeChoice {
  name: Scope;
  checked: boolean;
}

interface ConsentFormView extends FormBinding {
  app: RequestingAppView & {
    homepageUrl: string | null;
    privacyUrl: string | null;
    termsUrl: string | null;
  };
  /** Host of the redirect URI; the name of the app for a private-use scheme. */
  redirectHost: string;
  /** How the page presents the app. The form sends it as `identity`, because the app may change before the user submits it. */
  shownHash: string;
  /** The form sends the id as `user`, because another user may sign in before the user submits it. */
  user: UserView & { id: string };
}

/** Posts `decision` and every selected `scope` to `/oauth/authorize/decision`. */
export interface ConsentView extends ConsentFormView {
  scopes: readonly ScopeChoice[];
  /** Whether the user allowed this app before. */
  hasEarlierGrant: boolean;
  /** Seconds. */
  lifetimes: { refreshIdle: number; grant: number };
  /** Absolute, so that the user can note it down. */
  appsUrl: string;
}

/** For an app that already has every requested scope. Posts like the consent page. */
export interface RepeatedConsentView extends ConsentFormView {
  scopes: readonly Scope[];
  /** The consent page, where the user can allow less. */
  consentPageUrl: string;
}

export interface ConnectedAppView extends AppView {
  scopes: readonly Scope[];
  /** Its active grants: one for each time that the user allowed it. */
  connections: number;
  /** Times of the first and of the newest of them. */
  grantedAt: Date;
  lastGrantedAt: Date;
  /** Whether the newest is less than seven days old. */
  isNew: boolean;
  /** Null if the app has not used its access yet. */
  lastUsedAt: Date | null;
}

/** A browser in which the user is signed in. */
export interface SessionView {
  /** Identifies the session among those of the user. */
  handle: string;
  isThisBrowser: boolean;
  signedInAt: Date;
  /** Accurate to a minute. In the last half hour of the twelve hours of a session, up to half an hour too early. */
  lastUsedAt: Date;
}

/**
 * Links to the page of each app. Posts `all` to `/account/apps/revoke`, `session` to `/account/sessions/end`, and `apps`, if these lose
 * their access, too, to `/account/sign-out-everywhere`.
 */
export interface ConnectedAppsView extends SessionBinding {
  user: UserView;
  apps: readonly ConnectedAppView[];
  sessions: readonly SessionView[];
  notice?: Text;
}

/** Asks for confirmation, and posts the `client_id` of the app to `/account/apps/revoke`. */
export interface OneConnectedAppView extends SessionBinding {
  user: UserView;
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
  permalink: string;
  /** Whether a test app published it. */
  test: boolean;
}

/** A message or an error. */
export interface MessageView {
  /** Without the prefix "Error:" that `error` adds. */
  title: string;
  paragraphs: readonly Text[];
  error?: boolean;
  footer?: string;
  link?: { href: string; text: string };
  otherLink?: { href: string; text: string };
  /** The app whose request failed, if it is known. */
  appName?: string;
  /** For the developers of the app. */
  details?: { code: string; description?: string; requestId: string; documentationUrl: string };
}

/** The landing page, at `/`. */
export interface LandingView {
  docsUrl: string;
  openApiUrl: string;
  guideUrl: string;
  errorsUrl: string;
  /** The connected apps, for members. */
  accountUrl: string;
  /** The demo user, if there is one, and whether Swagger UI can authorize. */
  demo?: { phone: string; code: string; hasDocsApp: boolean };
}

/**
 * The error codes, at `/docs/errors`. Anchors: `<code>` (the target of `doc_url`), `field-<code>`, `oauth-<code>` and
 * `page-<code>`.
 */
export interface ErrorCodesView {
  /** By code. `remedy` is trusted HTML. */
  api: Readonly<Record<string, { status: number; remedy: string }>>;
  /** Meanings by code. */
  fields: Readonly<Record<string, string>>;
  /** A response body with `errors`, as JSON. */
  fieldsExample: string;
  oauth: Readonly<Record<string, { statuses: readonly ('redirect' | number)[]; remedy: string }>>;
  pages: Readonly<Record<string, { remedy: string }>>;
  docsUrl: string;
  guideUrl: string;
  /** The same page as Markdown. */
  markdownPath: string;
}

/** A page of the guide, below `/docs/guide`. */
export interface GuideView {
  title: string;
  description: string;
  /** Trusted HTML from our own Markdown. */
  html: string;
  /** The headings of the second level. */
  contents: readonly { id: string; text: string }[];
  /** All pages, in the order of the navigation. */
  pages: readonly { title: string; path: string; isCurrent: boolean }[];
  isOverview: boolean;
  /** The same page as Markdown. */
  markdownPath: string;
}

/** The views of the templates in `templates/`. */
export interface Views {
  phone: PhoneView;
  code: CodeView;
  consent: ConsentView;
  'repeated-consent': RepeatedConsentView;
  'connected-apps': ConnectedAppsView;
  'connected-app': OneConnectedAppView;
  post: PostView;
  message: MessageView;
  landing: LandingView;
  errors: ErrorCodesView;
  guide: GuideView;
}
