import { inWords } from '../dates.js';
import { LOCALES } from '../language.js';
import type { Text } from './markup.js';

const LOCALE = LOCALES.en;

/** The text of a page about an error. */
export interface ErrorText {
  title: string;
  paragraphs: readonly Text[];
}

/** Errors that name an app's link end with one of these. */
const TELL_THE_APP = 'Tell the people who run the app. Nothing was shared with it.';

/** Of each error its page, with the sentence that says how to start again. */
export const errors = (startAgain: string) => ({
  unknownApp: {
    title: 'This app is not known here',
    paragraphs: [
      'The link that brought you here names an app that is not registered or was switched off.',
      TELL_THE_APP,
    ],
  },
  wrongRedirectUri: {
    title: 'This link is not safe to follow',
    paragraphs: [
      'The link that brought you here wants to send you to an address that is not registered for the app.',
      TELL_THE_APP,
    ],
  },
  removedRedirectUri: {
    title: 'The app has changed its registration',
    paragraphs: [
      'The address that your answer would have been sent to is not registered for the app any more.',
      'Nothing was shared with it.',
      startAgain,
    ],
  },
  removedScopes: {
    title: 'The app has changed its registration',
    paragraphs: [
      'None of the access that it asked you for is registered for the app any more.',
      'Nothing was shared with it.',
      startAgain,
    ],
  },
  malformedLink: {
    title: 'This link is broken',
    paragraphs: ['The link that brought you here cannot be read.', startAgain],
  },
  stateTooLong: {
    title: 'This link is too long',
    paragraphs: ['The app sent more text with its request than it may.', startAgain],
  },
  expired: {
    title: 'This page has expired',
    paragraphs: ['You took longer than this page may stay open.', startAgain],
  },
  foreignForm: {
    title: 'This form did not come from your browser',
    paragraphs: [
      'The page you sent does not belong to this browser, or it is out of date: another tab may have started anew, or you signed in as somebody else since.',
      'It had no effect.',
      startAgain,
    ],
  },
  noCookies: {
    title: 'Your browser did not keep our cookie',
    paragraphs: [
      'Signing in needs one cookie, to know that it is still you. Allow cookies for this site.',
      startAgain,
    ],
  },
  alreadyAnswered: {
    title: 'This request was already answered',
    paragraphs: [
      'You, or another tab, answered this request before. It counts once.',
      'If the app did not go on, start again from there.',
    ],
  },
  notAPage: {
    title: 'This page cannot be opened by itself',
    paragraphs: ['It is one step of signing in, which an app begins.', startAgain],
  },
  malformedForm: {
    title: 'Something is missing from this form',
    paragraphs: ['The page you sent is incomplete.', startAgain],
  },
  notConnected: {
    title: 'This app is not connected',
    paragraphs: ['It has no access to your account. Maybe it was removed before.'],
  },
  signedOut: {
    title: 'You are not signed in any more',
    paragraphs: [
      'You were away for a while, or signed out in another tab. The page you sent had no effect.',
      startAgain,
    ],
  },
  tooManyAttempts: (seconds: number): ErrorText => ({
    title: 'Too many attempts',
    paragraphs: [
      `Too many attempts. Try again in ${inWords(seconds, LOCALE)}. This page may have expired by then.`,
      startAgain,
      'Your account is safe; nothing was shared.',
    ],
  }),
  lockedPhone: (seconds: number): ErrorText => ({
    title: 'Too many attempts',
    paragraphs: [
      `Too many wrong codes were typed for this phone number. Nobody can sign in with it for ${inWords(seconds, LOCALE)}.`,
      'If it is yours and you cannot wait, ask support to let you sign in before that.',
      startAgain,
    ],
  }),
  unavailable: {
    title: 'We cannot answer right now',
    paragraphs: ['Try again in a few seconds.'],
  },
  fault: (requestId: string): ErrorText => ({
    title: 'Something went wrong on our side',
    paragraphs: [startAgain, `If it happens again, tell support ${requestId}.`],
  }),
  /** Of a wrong authorization request; `description` is in English. */
  refused: (app: string, code: string, description: string): ErrorText => ({
    title: 'This link does not work',
    paragraphs: [
      `${app} sent you here with a request that we cannot accept. Nothing was shared with it.`,
      'You can close this page, or return to the app and try again.',
      `For the developers of the app: ${code}. ${description}`,
    ],
  }),
});

/** What every error page says. */
export type ErrorTexts = ReturnType<typeof errors>;
