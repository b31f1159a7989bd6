import { CATALOGUES } from '../../pages/catalogue/catalogue.js';
import type { ErrorText, ErrorTexts } from '../../pages/catalogue/en-errors.js';

/** An error that only the person at the browser can be told: an HTML page, never a redirect. */
export class PageError extends Error {
  /** @param text what the page says, of all that error pages say in its language */
  constructor(
    readonly status: 400 | 403 | 404 | 409 | 429 | 503 | 500,
    readonly text: (errors: ErrorTexts) => ErrorText,
    readonly retryAfterSeconds?: number,
  ) {
    super(text(CATALOGUES.en.errors('')).title);
    this.name = 'PageError';
  }
}

export const unknownApp = (): PageError => new PageError(400, (errors) => errors.unknownApp);

export const wrongRedirectUri = (): PageError =>
  new PageError(400, (errors) => errors.wrongRedirectUri);

export const removedRedirectUri = (): PageError =>
  new PageError(400, (errors) => errors.removedRedirectUri);

export const malformedLink = (): PageError => new PageError(400, (errors) => errors.malformedLink);

export const stateTooLong = (): PageError => new PageError(400, (errors) => errors.stateTooLong);

export const expiredTransaction = (): PageError => new PageError(400, (errors) => errors.expired);

/** A form that does not belong to this browser or to who is signed in. */
export class ForeignForm extends PageError {
  constructor() {
    super(403, (errors) => errors.foreignForm);
  }
}

/** Its token is another one's, which may be a guess: the only form that counts as a failure. */
export class ForeignToken extends ForeignForm {}

export const noCookies = (): PageError => new PageError(403, (errors) => errors.noCookies);

export const alreadyAnswered = (): PageError =>
  new PageError(409, (errors) => errors.alreadyAnswered);

export const notAPage = (): PageError => new PageError(400, (errors) => errors.notAPage);

export const malformedForm = (): PageError => new PageError(400, (errors) => errors.malformedForm);

export const notConnected = (): PageError => new PageError(404, (errors) => errors.notConnected);

export const signedOut = (): PageError => new PageError(403, (errors) => errors.signedOut);

export const tooManyAttempts = (seconds: number): PageError =>
  new PageError(429, (errors) => errors.tooManyAttempts(seconds), seconds);

export const lockedPhone = (seconds: number): PageError =>
  new PageError(429, (errors) => errors.lockedPhone(seconds), seconds);

export const unavailable = (): PageError => new PageError(503, (errors) => errors.unavailable, 5);

export const fault = (requestId: string): PageError =>
  new PageError(500, (errors) => errors.fault(requestId));

/** @param told what the app would be told, in English */
export const refusedRequest = (told: string): PageError =>
  new PageError(400, (errors) => errors.refused(told));
