import type { PageErrorCode } from '../modules/oauth/protocol/page-error.js';
import type { PageCodeEntry } from '../pages/views.js';

const PAGE_REMEDIES: Readonly<Record<PageErrorCode, string>> = {
  unknown_app:
    'client_id is not the id of an enabled app. Send the id that you got at registration.',
  wrong_redirect_uri:
    'redirect_uri is missing, or is not exactly one that is registered for the app. Register it, or send a registered one.',
  removed_redirect_uri:
    'The operator removed the redirect URI while the user signed in. Use one that is registered.',
  removed_scopes:
    'The operator removed every requested scope while the user signed in. Request registered scopes.',
  malformed_link: 'The URL is not percent-encoded correctly. Build it with a URL library.',
  state_too_long: 'state has more than 4,096 bytes. Store the data in your app, and send a key.',
  expired: 'The user took too long to sign in. Start a new authorization request.',
  no_cookies:
    'The browser sent no cookie. Open the authorization URL in the system browser, not in an embedded view.',
  already_answered:
    'The user already allowed or denied this authorization request. Start a new one.',
  not_a_page: 'The URL belongs to a form. Start at /oauth/authorize.',
  malformed_form: 'A field of the form is missing or invalid. Submit our forms unchanged.',
  foreign_form:
    'The form belongs to another browser, sign-in or user, or to another site. Start again.',
  not_connected:
    'The app has no access to the account of this user. Start a new authorization request.',
  signed_out: 'The session of the user has ended. The user signs in again.',
  too_many_attempts:
    'Too many requests came from the address, or too many codes were tried for the phone number. Wait for Retry-After seconds.',
  locked_phone:
    'Too many wrong codes were entered for the phone number. The operator can unlock it.',
  service_unavailable: 'The service is temporarily unavailable. Wait for Retry-After seconds.',
  internal_error: 'An error in the service. Contact support with the request id.',
};

/** The codes of error pages in the browser. */
export const pageCodes: readonly PageCodeEntry[] = Object.entries(PAGE_REMEDIES).map(
  ([code, remedy]) => ({ code, remedy }),
);
