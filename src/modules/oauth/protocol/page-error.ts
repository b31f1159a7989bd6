import { CATALOGUES } from '../../../pages/translations/translations.js';
import type { ErrorText, ErrorTexts } from '../../../pages/translations/en-errors.js';
import type { OAuthError, OAuthErrorCode } from './oauth.errors.js';

type Status = 400 | 403 | 404 | 409 | 429 | 500 | 503;

/** In logs and metrics, and in the small print of error pages. */
export type PageErrorCode =
  | 'unknown_app'
  | 'wrong_redirect_uri'
  | 'removed_redirect_uri'
  | 'removed_scopes'
  | 'malformed_link'
  | 'state_too_long'
  | 'expired'
  | 'no_cookies'
  | 'already_answered'
  | 'not_a_page'
  | 'malformed_form'
  | 'foreign_form'
  | 'not_connected'
  | 'signed_out'
  | 'too_many_attempts'
  | 'locked_phone'
  | 'service_unavailable'
  | 'internal_error';

/** The names of the errors whose text takes no parameters. */
type FixedText = {
  [K in keyof ErrorTexts]: ErrorTexts[K] extends ErrorText ? K : never;
}[keyof ErrorTexts];

/** An error shown as an HTML page, without a redirect to the app. */
export class PageError extends Error {
  /** The request that failed, if the page is shown after a redirect. */
  requestId?: string;

  /**
   * @param selectText returns the text of the error from the texts of a language
   */
  constructor(
    readonly status: Status,
    readonly code: PageErrorCode | OAuthErrorCode,
    readonly selectText: (errors: ErrorTexts) => ErrorText,
    readonly retryAfterSeconds?: number,
  ) {
    super(selectText(CATALOGUES.en.errors('')).title);
    this.name = 'PageError';
  }
}

/** A form that another site sent, or that belongs to another browser or user. */
export class InvalidForm extends PageError {
  constructor() {
    super(403, 'foreign_form', (errors) => errors.invalidForm);
  }
}

/** The form token is wrong. It may be a guess, so it counts as a failed attempt. */
export class InvalidFormToken extends InvalidForm {}

const pageError = (status: Status, code: PageErrorCode, name: FixedText) => (): PageError =>
  new PageError(status, code, (errors) => errors[name]);

export const unknownApp = pageError(400, 'unknown_app', 'unknownApp');
export const wrongRedirectUri = pageError(400, 'wrong_redirect_uri', 'wrongRedirectUri');
export const removedRedirectUri = pageError(400, 'removed_redirect_uri', 'removedRedirectUri');
export const removedScopes = pageError(400, 'removed_scopes', 'removedScopes');
export const malformedLink = pageError(400, 'malformed_link', 'malformedLink');
export const stateTooLong = pageError(400, 'state_too_long', 'stateTooLong');
export const expiredSignIn = pageError(400, 'expired', 'expired');
export const noCookies = pageError(403, 'no_cookies', 'noCookies');
export const alreadyDecided = pageError(409, 'already_answered', 'alreadyDecided');
export const notDirectlyAccessible = pageError(400, 'not_a_page', 'notDirectlyAccessible');
export const malformedForm = pageError(400, 'malformed_form', 'malformedForm');
export const notConnected = pageError(404, 'not_connected', 'notConnected');
export const signedOut = pageError(403, 'signed_out', 'signedOut');

export const tooManyAttempts = (seconds: number): PageError =>
  new PageError(429, 'too_many_attempts', (errors) => errors.tooManyAttempts(seconds), seconds);

export const lockedPhone = pageError(429, 'locked_phone', 'lockedPhone');

export const unavailable = (seconds = 5): PageError =>
  new PageError(503, 'service_unavailable', (errors) => errors.unavailable, seconds);

export const internalError = pageError(500, 'internal_error', 'internalError');

/**
 * The error that a form reported, for the page after the form. Undefined for the errors that this page finds by itself, such as an
 * expired sign-in.
 */
export function restoredError(
  code: string,
  { seconds, requestId }: { seconds?: number; requestId?: string },
): PageError | undefined {
  const error = errorOfForm(code, seconds);
  if (error) error.requestId = requestId;
  return error;
}

function errorOfForm(code: string, seconds?: number): PageError | undefined {
  switch (code) {
    case 'too_many_attempts':
      return tooManyAttempts(seconds ?? 0);
    case 'locked_phone':
      return lockedPhone();
    case 'service_unavailable':
      return unavailable(seconds);
    case 'internal_error':
      return internalError();
    case 'malformed_form':
      return malformedForm();
    case 'foreign_form':
      return new InvalidForm();
    default:
      return undefined;
  }
}

/** An invalid authorization request, shown to a user who has not signed in. */
export const invalidAuthorizationRequest = (appName: string, { code }: OAuthError): PageError =>
  new PageError(400, code, (errors) => errors.invalidRequest(appName));
