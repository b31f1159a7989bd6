import { inWords, LOCALES } from '../language.js';
import type { Text } from './markup.js';

const LOCALE = LOCALES.en;

export interface ErrorText {
  title: string;
  paragraphs: readonly Text[];
}

export function page(title: string, ...paragraphs: Text[]): ErrorText {
  return { title, paragraphs };
}

const TELL_THE_APP = 'Tell the people who run the app. Nothing was shared with it.';

/** The pages of errors. `startAgain` is the sentence that says how to start again. */
export const errors = (startAgain: string) => ({
  unknownApp: page(
    'This app is not known here',
    'The link that brought you here names an app that is not registered or was switched off.',
    TELL_THE_APP,
  ),
  wrongRedirectUri: page(
    'This link is not safe to follow',
    'The link that brought you here wants to send you to an address that is not registered for the app.',
    TELL_THE_APP,
  ),
  removedRedirectUri: page(
    'The app has changed its registration',
    'The address that your answer would have been sent to is not registered for the app any more.',
    'Nothing was shared with it.',
    startAgain,
  ),
  removedScopes: page(
    'The app has changed its registration',
    'None of the access that it asked you for is registered for the app any more.',
    'Nothing was shared with it.',
    startAgain,
  ),
  malformedLink: page(
    'This link is broken',
    'The link that brought you here cannot be read.',
    startAgain,
  ),
  stateTooLong: page(
    'This link is too long',
    'The app sent more text with its request than it may.',
    startAgain,
  ),
  expired: page(
    'This page has expired',
    'You took longer than this page may stay open.',
    startAgain,
  ),
  foreignForm: page(
    'This form did not come from your browser',
    'The page you sent does not belong to this browser, or it is out of date: another tab may have started anew, or you signed in as somebody else since.',
    'It had no effect.',
    startAgain,
  ),
  noCookies: page(
    'Your browser did not keep our cookie',
    'Signing in needs one cookie, to know that it is still you. Allow cookies for this site.',
    startAgain,
  ),
  alreadyDecided: page(
    'This request was already answered',
    'You, or another tab, answered this request before. It counts once.',
    'If the app did not go on, start again from there.',
  ),
  notAPage: page(
    'This page cannot be opened by itself',
    'It is one step of signing in, which an app begins.',
    startAgain,
  ),
  malformedForm: page(
    'Something is missing from this form',
    'The page you sent is incomplete.',
    startAgain,
  ),
  notConnected: page(
    'This app is not connected',
    'It has no access to your account. Maybe it was removed before.',
  ),
  signedOut: page(
    'You are not signed in any more',
    'You were away for a while, or signed out in another tab. The page you sent had no effect.',
    startAgain,
  ),
  tooManyAttempts: (seconds: number): ErrorText =>
    page(
      'Too many attempts',
      `Too many attempts. Try again in ${inWords(seconds, LOCALE)}. This page may have expired by then.`,
      startAgain,
      'Your account is safe; nothing was shared.',
    ),
  lockedPhone: (seconds: number): ErrorText =>
    page(
      'Too many attempts',
      `Too many wrong codes were typed for this phone number. Nobody can sign in with it for ${inWords(seconds, LOCALE)}.`,
      'If it is yours and you cannot wait, ask support to let you sign in before that.',
      startAgain,
    ),
  unavailable: page('We cannot answer right now', 'Try again in a few seconds.'),
  fault: (requestId: string): ErrorText =>
    page(
      'Something went wrong on our side',
      startAgain,
      `If it happens again, tell support ${requestId}.`,
    ),
  /** `description` is in English. */
  refused: (app: string, code: string, description: string): ErrorText =>
    page(
      'This link does not work',
      `${app} sent you here with a request that we cannot accept. Nothing was shared with it.`,
      'You can close this page, or return to the app and try again.',
      `For the developers of the app: ${code}. ${description}`,
    ),
});

export type ErrorTexts = ReturnType<typeof errors>;
