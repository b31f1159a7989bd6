import type { OAuthErrorCode } from '../modules/oauth/protocol/oauth.errors.js';
import type { PageErrorCode } from '../modules/oauth/protocol/page-error.js';
import type { OAuthCodeEntry, PageCodeEntry } from '../pages/views.js';

const OAUTH_REMEDIES: Readonly<Record<OAuthErrorCode, Omit<OAuthCodeEntry, 'code'>>> = {
  invalid_request: {
    statuses: ['redirect', 400, 404, 405, 408, 413],
    remedy:
      'A parameter is missing, malformed or repeated. Correct the parameter that error_description names. The status is 404 for an unknown path, 405 for a wrong method (see the Allow header), 408 if the form did not arrive in time, and 413 if it is too large.',
  },
  invalid_client: {
    statuses: [401],
    remedy:
      'The client_id is missing, the client_id or client secret is wrong, the Authorization header is malformed, or the operator disabled the app; or a public app requested introspection. Keep the tokens of your users: you can use them again once this is fixed.',
  },
  invalid_grant: {
    statuses: [400],
    remedy:
      'The code or refresh token is unknown, used, expired or revoked, or belongs to another app; or redirect_uri or code_verifier does not match the code. Do not retry. Delete the tokens and send the user through the authorization flow again.',
  },
  invalid_scope: {
    statuses: ['redirect', 400],
    remedy:
      'Request at least one scope, and only scopes that the app is registered for, separated by spaces instead of commas. When refreshing, request only scopes that the user granted.',
  },
  unsupported_grant_type: {
    statuses: [400],
    remedy: 'Set grant_type to authorization_code or refresh_token.',
  },
  unsupported_response_type: { statuses: ['redirect'], remedy: 'Set response_type to code.' },
  access_denied: {
    statuses: ['redirect'],
    remedy:
      'The user denied access. Continue without it, and ask again when the user next needs it.',
  },
  interaction_required: {
    statuses: ['redirect'],
    remedy: 'Omit prompt=none. It is not supported, because the user is always asked.',
  },
  request_not_supported: {
    statuses: ['redirect'],
    remedy:
      'Request objects are not supported. Send plain parameters instead of the parameter request.',
  },
  request_uri_not_supported: {
    statuses: ['redirect'],
    remedy:
      'Request objects are not supported. Send plain parameters instead of the parameter request_uri.',
  },
  server_error: {
    statuses: [500],
    remedy:
      'An error in the service. Keep the tokens, retry later, and contact support with the X-Request-Id of the response.',
  },
  temporarily_unavailable: {
    statuses: [503],
    remedy:
      'The service is temporarily unavailable. Keep the tokens, wait for Retry-After seconds, then repeat the request.',
  },
  too_many_attempts: {
    statuses: [429, 503],
    remedy:
      'Wait for Retry-After seconds, then retry once. For a revocation, the status is 503 (RFC 7009, section 2.2.1): the token is still valid, so retry the revocation later.',
  },
};

export const oauthCodes: readonly OAuthCodeEntry[] = Object.entries(OAUTH_REMEDIES).map(
  ([code, entry]) => ({ code, ...entry }),
);

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
