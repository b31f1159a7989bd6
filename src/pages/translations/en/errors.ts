import { formatDuration } from '../../formats.js';
import { LOCALE } from './locale.js';

interface ErrorValues {
  /** A sentence that says how to start again. */
  startAgain: string;
  /** Until the user may try again. */
  seconds: number;
}

const CONTACT_DEVELOPER = 'Contact the developer of the app. Nothing was shared with it.';

/** The title and the paragraphs of each of `PAGE_ERRORS`. */
export const errors = {
  unknown_app: () => [
    'Unknown app',
    'The app that sent you here is not registered or was disabled.',
    CONTACT_DEVELOPER,
  ],
  wrong_redirect_uri: () => [
    'This link is not safe',
    'It would send you to an address that is not registered for the app.',
    CONTACT_DEVELOPER,
  ],
  removed_redirect_uri: ({ startAgain }) => [
    'The app has changed its registration',
    'The address that you would return to is no longer registered for the app.',
    'Nothing was shared with it.',
    startAgain,
  ],
  removed_scopes: ({ startAgain }) => [
    'The app has changed its registration',
    'The app may no longer request the access that it asked you for.',
    'Nothing was shared with it.',
    startAgain,
  ],
  malformed_link: ({ startAgain }) => [
    'This link is broken',
    'We could not read the link that brought you here.',
    startAgain,
  ],
  state_too_long: ({ startAgain }) => [
    'This link is too long',
    'The app sent more data with its request than we accept.',
    startAgain,
  ],
  expired: ({ startAgain }) => ['This page has expired', 'Your sign-in timed out.', startAgain],
  no_cookies: ({ startAgain }) => [
    'A required cookie is missing',
    'Your browser did not send the cookie that signing in requires. A sign-in continues only in the browser that started it: if you copied the link from another browser, go back to that one.',
    'Otherwise, allow cookies for this site.',
    startAgain,
  ],
  already_answered: () => [
    'You have already responded to this request',
    'You allowed or denied it before, perhaps in another tab. Only the first response counts.',
    'If the app did not continue, go back to it and start again.',
  ],
  not_a_page: ({ startAgain }) => [
    'This page cannot be opened directly',
    'It is one step of a sign-in that starts in an app.',
    startAgain,
  ],
  malformed_form: ({ startAgain }) => [
    'This form is incomplete',
    'Required fields are missing or invalid.',
    startAgain,
  ],
  foreign_form: ({ startAgain }) => [
    'This form is no longer valid',
    'It is out of date or belongs to another browser. You may have started again in another tab, or signed in as another user.',
    'Nothing was changed.',
    startAgain,
  ],
  other_address: () => [
    'This page has another address',
    'You opened it by another name of this site, where its forms do not work. Nothing was changed.',
    'Open it at this address:',
  ],
  prefetch: ({ startAgain }) => [
    'This page cannot be loaded in advance',
    'It loads when you open the link.',
    startAgain,
  ],
  not_connected: () => [
    'This app is not connected',
    'It has no access to your account. You may have removed its access already.',
  ],
  signed_out: ({ startAgain }) => [
    'You are no longer signed in',
    'Your session expired, or you signed out in another tab. Nothing was changed.',
    startAgain,
  ],
  too_many_attempts: ({ startAgain, seconds }) => [
    'Too many attempts',
    `Try again in ${formatDuration(seconds, LOCALE)}. This page may have expired by then.`,
    startAgain,
    'Your account is safe. Nothing was shared.',
  ],
  locked_phone: ({ startAgain }) => [
    'Too many attempts',
    'Too many wrong codes were entered for this phone number, so it is locked.',
    'If this is your number, sign in with a browser that you used before. That unlocks it. Otherwise, ask support to unlock it.',
    startAgain,
  ],
  service_unavailable: () => ['Temporarily unavailable', 'Try again in a few seconds.'],
  internal_error: ({ startAgain }) => [
    'Something went wrong on our side',
    startAgain,
    'If it happens again, contact support and mention the request ID below.',
  ],
} satisfies Record<string, (values: ErrorValues) => readonly [string, ...string[]]>;
