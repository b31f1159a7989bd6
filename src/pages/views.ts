/** Ties a form to the authorization transaction it belongs to; rendered as two hidden fields. */
export interface FormBinding {
  /** Id of the transaction. */
  transaction: string;
  /** Secret of the transaction; proves that the form came from our own page (RFC 6749 §10.12). */
  token: string;
}

/** Sign-in, first step: the phone number. Posts `phone` to `/oauth/authorize/sign-in`. */
export interface PhoneView extends FormBinding {
  appName: string;
  /** What the user typed before, shown again as it was. */
  phone?: string;
  /** One sentence that says what to correct; shown beside the field and in the summary. */
  error?: string;
}

/** Sign-in, second step: the one-time password. Posts `code` and `phone` to `/oauth/authorize/verify`. */
export interface CodeView extends FormBinding {
  appName: string;
  /** E.164, as it was typed: shown whole, so that a wrong digit is seen, and kept in hidden fields. */
  phone: string;
  /** One sentence that says what to correct; shown beside the field and in the summary. */
  error?: string;
  /** One sentence of news that is no error, such as "We sent a new code." */
  notice?: string;
}

/** One requested scope on the consent page. */
export interface ScopeChoice {
  /** The scope's name; the value of its box. */
  name: string;
  /** What it allows, in the user's words. */
  sentence: string;
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
}

/** A page that explains or reports. */
export interface MessageView {
  /** Text of `<title>`, without the "Error:" that `error` puts before it. */
  title: string;
  paragraphs: readonly string[];
  error?: boolean;
}

/** The developers' front page, at `/`. */
export interface LandingView {
  /** Path or URL, on this server, of the documentation. */
  docsUrl: string;
  /** Path or URL, on this server, of the OpenAPI document. */
  openApiUrl: string;
  /** Whether the demo app and the demo user exist here. */
  demo: boolean;
}

/** One code of the developer API's errors. */
export interface ErrorCodeEntry {
  code: string;
  status: number;
  /** What a developer does about it. */
  remedy: string;
}

/** The list of error codes, at `/docs/errors`; each code is an anchor. */
export interface ErrorCodesView {
  codes: readonly ErrorCodeEntry[];
  docsUrl: string;
}
