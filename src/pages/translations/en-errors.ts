import { formatDuration, LOCALES } from '../language.js';
import { markup, type Text } from './markup.js';

const LOCALE = LOCALES.en;

export interface ErrorText {
  title: string;
  paragraphs: readonly Text[];
}

export function page(title: string, ...paragraphs: Text[]): ErrorText {
  return { title, paragraphs };
}

const CONTACT_DEVELOPER = 'Contact the developer of the app. Nothing was shared with it.';

/** Error pages. `startAgain` is a sentence that says how to start again. */
export const errors = (startAgain: string) => ({
  unknownApp: page(
    'Unknown app',
    'The app that sent you here is not registered or was disabled.',
    CONTACT_DEVELOPER,
  ),
  wrongRedirectUri: page(
    'This link is not safe',
    'It would send you to an address that is not registered for the app.',
    CONTACT_DEVELOPER,
  ),
  removedRedirectUri: page(
    'The app has changed its registration',
    'The address that you would return to is no longer registered for the app.',
    'Nothing was shared with it.',
    startAgain,
  ),
  removedScopes: page(
    'The app has changed its registration',
    'The app may no longer request the access that it asked you for.',
    'Nothing was shared with it.',
    startAgain,
  ),
  malformedLink: page(
    'This link is broken',
    'We could not read the link that brought you here.',
    startAgain,
  ),
  stateTooLong: page(
    'This link is too long',
    'The app sent more data with its request than we accept.',
    startAgain,
  ),
  expired: page('This page has expired', 'Your sign-in timed out.', startAgain),
  invalidForm: page(
    'This form is no longer valid',
    'It is out of date or belongs to another browser. You may have started again in another tab, or signed in as another user.',
    'Nothing was changed.',
    startAgain,
  ),
  noCookies: page(
    'A required cookie is missing',
    'Your browser did not send the cookie that signing in requires. Allow cookies for this site.',
    startAgain,
  ),
  alreadyDecided: page(
    'You have already responded to this request',
    'You allowed or denied it before, perhaps in another tab. Only the first response counts.',
    'If the app did not continue, go back to it and start again.',
  ),
  notDirectlyAccessible: page(
    'This page cannot be opened directly',
    'It is one step of a sign-in that starts in an app.',
    startAgain,
  ),
  malformedForm: page(
    'This form is incomplete',
    'Required fields are missing or invalid.',
    startAgain,
  ),
  notConnected: page(
    'This app is not connected',
    'It has no access to your account. You may have removed its access already.',
  ),
  signedOut: page(
    'You are no longer signed in',
    'Your session expired, or you signed out in another tab. Nothing was changed.',
    startAgain,
  ),
  tooManyAttempts: (seconds: number): ErrorText =>
    page(
      'Too many attempts',
      `Try again in ${formatDuration(seconds, LOCALE)}. This page may have expired by then.`,
      startAgain,
      'Your account is safe. Nothing was shared.',
    ),
  lockedPhone: page(
    'Too many attempts',
    'Too many wrong codes were entered for this phone number, so it is locked.',
    'If this is your number, sign in with a browser that you used before. That unlocks it. Otherwise, ask support to unlock it.',
    startAgain,
  ),
  unavailable: page('Temporarily unavailable', 'Try again in a few seconds.'),
  internalError: page(
    'Something went wrong on our side',
    startAgain,
    'If it happens again, contact support and mention the request ID below.',
  ),
  invalidRequest: (app: string): ErrorText =>
    page(
      'This link does not work',
      markup`<bdi>${app}</bdi> sent an invalid request. Nothing was shared with it.`,
      'You can close this page, or return to the app and try again.',
    ),
});

export type ErrorTexts = ReturnType<typeof errors>;
