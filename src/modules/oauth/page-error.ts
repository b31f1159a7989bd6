import { inWords } from '../../common/duration.js';

/** Stands for the sentence that says how to start again, which is another for an app's request than for the account. */
export const START_AGAIN = Symbol('start again');

/** An error that only the person at the browser can be told: an HTML page, never a redirect. */
export class PageError extends Error {
  constructor(
    readonly status: 400 | 403 | 404 | 409 | 429 | 503 | 500,
    readonly title: string,
    readonly paragraphs: readonly (string | typeof START_AGAIN)[],
    readonly retryAfterSeconds?: number,
  ) {
    super(title);
    this.name = 'PageError';
  }
}

export const unknownApp = (): PageError =>
  new PageError(400, 'This app is not known here', [
    'The link that brought you here names an app that is not registered or was switched off.',
    'Tell the people who run the app. Nothing was shared with it.',
  ]);

export const wrongRedirectUri = (): PageError =>
  new PageError(400, 'This link is not safe to follow', [
    'The link that brought you here wants to send you to an address that is not registered for the app.',
    'Tell the people who run the app. Nothing was shared with it.',
  ]);

export const removedRedirectUri = (): PageError =>
  new PageError(400, 'The app has changed its registration', [
    'The address that your answer would have been sent to is not registered for the app any more.',
    'Nothing was shared with it.',
    START_AGAIN,
  ]);

export const malformedLink = (): PageError =>
  new PageError(400, 'This link is broken', [
    'The link that brought you here cannot be read.',
    START_AGAIN,
  ]);

export const stateTooLong = (): PageError =>
  new PageError(400, 'This link is too long', [
    'The app sent more text with its request than it may.',
    START_AGAIN,
  ]);

export const expiredTransaction = (): PageError =>
  new PageError(400, 'This page has expired', [
    'You took longer than this page may stay open.',
    START_AGAIN,
  ]);

/** A form that does not belong to this browser or to who is signed in. */
export class ForeignForm extends PageError {
  constructor() {
    super(403, 'This form did not come from your browser', [
      'The page you sent does not belong to this browser, or it is out of date: another tab may have started anew, or you ' +
        'signed in as somebody else since.',
      'It had no effect.',
      START_AGAIN,
    ]);
  }
}

/** Its token is another one's, which may be a guess: the only form that counts as a failure. */
export class ForeignToken extends ForeignForm {}

export const noCookies = (): PageError =>
  new PageError(403, 'Your browser did not keep our cookie', [
    'Signing in needs one cookie, to know that it is still you. Allow cookies for this site.',
    START_AGAIN,
  ]);

export const alreadyAnswered = (): PageError =>
  new PageError(409, 'This request was already answered', [
    'You, or another tab, answered this request before. It counts once.',
    'If the app did not go on, start again from there.',
  ]);

export const notAPage = (): PageError =>
  new PageError(400, 'This page cannot be opened by itself', [
    'It is one step of signing in, which an app begins.',
    START_AGAIN,
  ]);

export const malformedForm = (): PageError =>
  new PageError(400, 'Something is missing from this form', [
    'The page you sent is incomplete.',
    START_AGAIN,
  ]);

export const notConnected = (): PageError =>
  new PageError(404, 'This app is not connected', [
    'It has no access to your account. Maybe it was removed before.',
  ]);

export const signedOut = (): PageError =>
  new PageError(403, 'You are not signed in any more', [
    'You were away for a while, or signed out in another tab. The page you sent had no effect.',
    START_AGAIN,
  ]);

export const tooManyAttempts = (seconds: number): PageError =>
  new PageError(
    429,
    'Too many attempts',
    [
      `Too many attempts. Try again in ${inWords(seconds)}. This page may have expired by then.`,
      START_AGAIN,
      'Your account is safe; nothing was shared.',
    ],
    seconds,
  );

export const lockedPhone = (seconds: number): PageError =>
  new PageError(
    429,
    'Too many attempts',
    [
      `Too many wrong codes were typed for this phone number. Nobody can sign in with it for ${inWords(seconds)}.`,
      'If it is yours and you cannot wait, ask support to let you sign in before that.',
      START_AGAIN,
    ],
    seconds,
  );

export const unavailable = (): PageError =>
  new PageError(503, 'We cannot answer right now', ['Try again in a few seconds.'], 5);

export const fault = (requestId: string): PageError =>
  new PageError(500, 'Something went wrong on our side', [
    START_AGAIN,
    `If it happens again, tell support ${requestId}.`,
  ]);
