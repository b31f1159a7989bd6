import type { OAuthErrorCode } from '../../modules/oauth/oauth.errors.js';
import type { OAuthCodeEntry } from '../../pages/views.js';

const REMEDIES: Readonly<Record<OAuthErrorCode, Omit<OAuthCodeEntry, 'code'>>> = {
  invalid_request: {
    told: ['redirect', 400, 404, 405, 408, 413],
    remedy:
      'A parameter is missing, malformed or sent twice: correct what error_description names. The status is 404 where no endpoint has the path, 405 where it does not take the method (Allow lists those that it takes), 408 when the form did not arrive in time, and 413 when it is too large.',
  },
  invalid_client: {
    told: [401],
    remedy:
      'The client_id or the secret is wrong, or the operator disabled the app. Keep the tokens of your users: they work again once this is mended.',
  },
  invalid_grant: {
    told: [400],
    remedy:
      "The code or refresh token is unknown, used, expired, revoked or another app's, or redirect_uri or code_verifier does not belong to it. Do not retry: delete the tokens and send the user through the flow again.",
  },
  invalid_scope: {
    told: ['redirect', 400],
    remedy:
      'Ask for at least one scope, and only for those that the app is registered for; when you refresh, only for what the user granted.',
  },
  unsupported_grant_type: {
    told: [400],
    remedy: 'Send authorization_code or refresh_token as grant_type.',
  },
  unsupported_response_type: { told: ['redirect'], remedy: 'Send code as response_type.' },
  access_denied: {
    told: ['redirect'],
    remedy:
      'The user said no. Go on without access, and ask again when they next want what needs it.',
  },
  interaction_required: {
    told: ['redirect'],
    remedy: 'The request said prompt=none, but the user is always asked. Leave it out.',
  },
  request_not_supported: {
    told: ['redirect'],
    remedy: 'Send plain parameters in place of a request object (request).',
  },
  request_uri_not_supported: {
    told: ['redirect'],
    remedy: 'Send plain parameters in place of a request object (request_uri).',
  },
  server_error: {
    told: [500],
    remedy:
      'A fault of ours. Keep the tokens, try again later, and tell support the X-Request-Id of the answer.',
  },
  temporarily_unavailable: {
    told: [503],
    remedy:
      'Not your fault. Keep the tokens, wait as long as Retry-After says, then send the same again.',
  },
  too_many_attempts: {
    told: [429, 503],
    remedy:
      'Wait as long as Retry-After says, then try again once. The status is 503 for a revocation (RFC 7009, section 2.2.1): the token still works, so revoke it later.',
  },
};

/** Every code that the OAuth endpoints tell apps, as the documentation lists them. */
export const oauthCodes: readonly OAuthCodeEntry[] = Object.entries(REMEDIES).map(
  ([code, entry]) => ({ code, ...entry }),
);
