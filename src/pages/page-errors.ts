import type { Language } from './language.js';
import type { Catalogue } from './translations/en/catalogue.js';
import type { Text } from './translations/markup.js';
import { CATALOGUES } from './translations/translations.js';

export interface ErrorText {
  title: string;
  paragraphs: readonly Text[];
}

interface PageErrorDefinition {
  status: number;
  /** HTML for the page `/docs/errors`: what the error means and what the developer of the app can do. */
  remedy: string;
}

/** The errors of pages, by the code in logs, in metrics and in the small print of the page. Their texts are in the catalogues. */
export const PAGE_ERRORS = {
  unknown_app: {
    status: 400,
    remedy: 'client_id is not the id of an enabled app. Send the id that you got at registration.',
  },
  wrong_redirect_uri: {
    status: 400,
    remedy:
      'redirect_uri is missing, or is not exactly one that is registered for the app. Register it, or send a registered one.',
  },
  removed_redirect_uri: {
    status: 400,
    remedy:
      'The operator removed the redirect URI while the user signed in. Use one that is registered.',
  },
  removed_scopes: {
    status: 400,
    remedy:
      'The operator removed every requested scope while the user signed in. Request registered scopes.',
  },
  malformed_link: {
    status: 400,
    remedy: 'The URL is not percent-encoded correctly. Build it with a URL library.',
  },
  state_too_long: {
    status: 400,
    remedy: 'state has more than 4,096 bytes. Store the data in your app, and send a key.',
  },
  expired: {
    status: 400,
    remedy: 'The user took too long to sign in. Start a new authorization request.',
  },
  no_cookies: {
    status: 403,
    remedy:
      'The browser sent no cookie. Open the authorization URL in the system browser, not in an embedded view.',
  },
  already_answered: {
    status: 409,
    remedy: 'The user already allowed or denied this authorization request. Start a new one.',
  },
  not_a_page: {
    status: 400,
    remedy: 'The URL belongs to a form. Start at /oauth/authorize.',
  },
  malformed_form: {
    status: 400,
    remedy: 'A field of the form is missing or invalid. Submit our forms unchanged.',
  },
  foreign_form: {
    status: 403,
    remedy:
      'The form belongs to another browser, sign-in or user, or to another site. Start again.',
  },
  other_address: {
    status: 403,
    remedy:
      'The page was opened by another name of the host than the issuer. Build the authorization URL from the metadata of the service.',
  },
  prefetch: {
    status: 400,
    remedy:
      'The browser requested the page before the user opened it (Sec-Purpose: prefetch), so nothing was stored. It sends the request again when the user does.',
  },
  not_connected: {
    status: 404,
    remedy: 'The app has no access to the account of this user. Start a new authorization request.',
  },
  signed_out: {
    status: 403,
    remedy: 'The session of the user has ended. The user signs in again.',
  },
  too_many_attempts: {
    status: 429,
    remedy:
      'Too many requests came from the address, or too many codes were tried for the phone number. Wait for Retry-After seconds.',
  },
  locked_phone: {
    status: 429,
    remedy: 'Too many wrong codes were entered for the phone number. The operator can unlock it.',
  },
  service_unavailable: {
    status: 503,
    remedy: 'The service is temporarily unavailable. Wait for Retry-After seconds.',
  },
  internal_error: {
    status: 500,
    remedy: 'An error in the service. Contact support with the request id.',
  },
} as const satisfies Record<keyof Catalogue['errors'], PageErrorDefinition>;

export type PageErrorCode = keyof typeof PAGE_ERRORS;

/** An error shown as an HTML page, without a redirect to the app. */
export class PageError extends Error {
  /** The request that failed, if the page is shown after a redirect. */
  requestId?: string;

  constructor(
    readonly code: PageErrorCode,
    readonly retryAfterSeconds?: number,
  ) {
    super(code);
    this.name = new.target.name;
  }

  get status(): number {
    return PAGE_ERRORS[this.code].status;
  }

  /** @param startAgain a sentence that says how to start again */
  text(language: Language, startAgain: string): ErrorText {
    const seconds = this.retryAfterSeconds ?? 0;
    const [title, ...paragraphs] = CATALOGUES[language].errors[this.code]({ startAgain, seconds });
    return { title, paragraphs };
  }
}
