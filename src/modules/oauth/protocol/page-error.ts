import { CATALOGUES } from '../../../pages/translations/translations.js';
import type { ErrorText, ErrorTexts } from '../../../pages/translations/en-errors.js';
import type { OAuthError } from './oauth.errors.js';

/** An error that only the person at the browser can be told: an HTML page, never a redirect. */
export class PageError extends Error {
  /**
   * @param code what log and metrics call it; the page does not show it
   * @param text what the page says, of all that error pages say in its language
   */
  constructor(
    readonly status: 400 | 403 | 404 | 409 | 429 | 503 | 500,
    readonly code: string,
    readonly text: (errors: ErrorTexts) => ErrorText,
    readonly retryAfterSeconds?: number,
  ) {
    super(text(CATALOGUES.en.errors('')).title);
    this.name = 'PageError';
  }
}

export const unknownApp = (): PageError =>
  new PageError(400, 'unknown_app', (errors) => errors.unknownApp);

export const wrongRedirectUri = (): PageError =>
  new PageError(400, 'wrong_redirect_uri', (errors) => errors.wrongRedirectUri);

export const removedRedirectUri = (): PageError =>
  new PageError(400, 'removed_redirect_uri', (errors) => errors.removedRedirectUri);

export const removedScopes = (): PageError =>
  new PageError(400, 'removed_scopes', (errors) => errors.removedScopes);

export const malformedLink = (): PageError =>
  new PageError(400, 'malformed_link', (errors) => errors.malformedLink);

export const stateTooLong = (): PageError =>
  new PageError(400, 'state_too_long', (errors) => errors.stateTooLong);

export const expiredTransaction = (): PageError =>
  new PageError(400, 'expired', (errors) => errors.expired);

/** A form that does not belong to this browser or to who is signed in. */
export class ForeignForm extends PageError {
  constructor() {
    super(403, 'foreign_form', (errors) => errors.foreignForm);
  }
}

/** Its token is another one's, which may be a guess: the only form that counts as a failure. */
export class ForeignToken extends ForeignForm {}

export const noCookies = (): PageError =>
  new PageError(403, 'no_cookies', (errors) => errors.noCookies);

export const alreadyAnswered = (): PageError =>
  new PageError(409, 'already_answered', (errors) => errors.alreadyAnswered);

export const notAPage = (): PageError =>
  new PageError(400, 'not_a_page', (errors) => errors.notAPage);

export const malformedForm = (): PageError =>
  new PageError(400, 'malformed_form', (errors) => errors.malformedForm);

export const notConnected = (): PageError =>
  new PageError(404, 'not_connected', (errors) => errors.notConnected);

export const signedOut = (): PageError =>
  new PageError(403, 'signed_out', (errors) => errors.signedOut);

export const tooManyAttempts = (seconds: number): PageError =>
  new PageError(429, 'too_many_attempts', (errors) => errors.tooManyAttempts(seconds), seconds);

export const lockedPhone = (seconds: number): PageError =>
  new PageError(429, 'locked_phone', (errors) => errors.lockedPhone(seconds), seconds);

export const unavailable = (seconds = 5): PageError =>
  new PageError(503, 'service_unavailable', (errors) => errors.unavailable, seconds);

export const fault = (requestId: string): PageError =>
  new PageError(500, 'internal_error', (errors) => errors.fault(requestId));

/** An authorization request that the app got wrong, before the user has signed in. */
export const refusedRequest = (app: string, { code, message }: OAuthError): PageError =>
  new PageError(400, 'refused', (errors) => errors.refused(app, code, message));
