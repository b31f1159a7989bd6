import { readFileSync } from 'node:fs';
import type { OAuthErrorCode } from '../modules/oauth/protocol/oauth.errors.js';
import { markup, type Text } from '../pages/translations/markup.js';
import type { ErrorCodeEntry, FieldCodeEntry, OAuthCodeEntry } from '../pages/views.js';
import { type ErrorCode, type FieldErrorCode, InvalidRequest } from '../platform/errors.js';
import { ERROR_STATUS, ErrorResponse } from '../platform/http/errors/api-errors.js';
import { programFile } from '../platform/program-file.js';

/** The path of the integration guide. */
export const GUIDE_PATH = '/docs/integrate.md';

export const guide = readFileSync(programFile('docs/integrate.md'), 'utf8');

const REMEDIES: Readonly<Record<ErrorCode, Text>> = {
  invalid_request: markup`Correct what <code>errors</code> lists, or what <code>error_description</code> says where there is no list. Nothing was stored. Each entry of the list has a <a href="#field-codes">code of its own</a>.`,
  unauthorized: 'Send the access token in the header Authorization: Bearer <access token>.',
  invalid_token:
    'Get a new access token with the refresh token; if that fails too, send the user through the flow again.',
  insufficient_scope:
    'Send the user through the authorization flow again and ask for the scope that the answer names.',
  not_found:
    "The path does not exist, or the thing was deleted or is not this user's: nobody can tell which.",
  method_not_allowed: 'Use a method that the header Allow lists.',
  request_timeout: 'Send the whole body at once, on a new connection.',
  idempotency_key_in_use:
    'The first request with this Idempotency-Key is still running. Wait as long as Retry-After says, then send the same again.',
  payload_too_large: 'Send a smaller body.',
  unsupported_media_type: 'Send JSON in UTF-8, with the header Content-Type: application/json.',
  idempotency_key_reused:
    'Use a new Idempotency-Key for every new request. The same key is for sending the same request again.',
  quota_exceeded:
    'The app has published its posts of this month. Wait as long as Retry-After says, or ask the operator for a plan.',
  internal_error: 'A fault of ours. Tell support the request_id.',
  service_unavailable: 'Try again after the seconds that Retry-After says.',
};

export const errorCodes: readonly ErrorCodeEntry[] = (Object.keys(ERROR_STATUS) as ErrorCode[]).map(
  (code) => ({ code, status: ERROR_STATUS[code], remedy: REMEDIES[code] }),
);

const MEANINGS: Readonly<Record<FieldErrorCode, string>> = {
  required: 'It is missing, or null.',
  wrong_type: 'It is of another JSON type, or not the whole number that a parameter has to be.',
  unknown_field:
    'The body has no such member. The message lists those that it has, and says which one was probably meant.',
  too_small: 'The number is less than the least that the message names.',
  too_large: 'The number is more than the most that the message names.',
  too_short: 'The text has fewer characters than the message asks for.',
  too_long:
    'The text has more characters than the message allows. Characters are Unicode code points.',
  too_many: 'The list has more items than the message allows.',
  too_deep: 'The body is nested too deeply.',
  blank: 'The text is empty, or holds nothing that can be seen.',
  control_character:
    'The text holds a control character, or a line break or tab where it has to be one line.',
  not_well_formed: 'The text holds half a surrogate pair, or the body is not UTF-8.',
  invalid_format: 'It does not have the form that the message describes.',
  not_allowed_value: 'It is none of the values that the message lists.',
  pair_required: 'It needs another member beside it: send both or neither.',
  one_of_required: 'The body has none of the members of which it needs at least one.',
  invalid_reference: 'It names something that does not exist, or that does not belong there.',
};

/** The codes of `errors[].code`. */
export const fieldCodes: readonly FieldCodeEntry[] = Object.entries(MEANINGS).map(
  ([code, meaning]) => ({ code, meaning }),
);

/** The response to a post at latitude 91 with a tag of spaces, as JSON. */
export function fieldErrorsExample(publicUrl: string): string {
  const error = InvalidRequest.fields([
    { field: 'tags', code: 'blank', message: 'tags[1] must not be blank.' },
    { field: 'latitude', code: 'too_large', message: 'latitude must be at most 90.' },
  ]);
  const body = ErrorResponse.from(error, 'req_01kahq5f3veqdr8bn3tdmx3q0a', publicUrl);
  return JSON.stringify(body, null, 2);
}

const OAUTH_REMEDIES: Readonly<Record<OAuthErrorCode, Omit<OAuthCodeEntry, 'code'>>> = {
  invalid_request: {
    statuses: ['redirect', 400, 404, 405, 408, 413],
    remedy:
      'A parameter is missing, malformed or sent twice: correct what error_description names. The status is 404 where no endpoint has the path, 405 where it does not take the method (Allow lists those that it takes), 408 when the form did not arrive in time, and 413 when it is too large.',
  },
  invalid_client: {
    statuses: [401],
    remedy:
      'The client_id or the secret is wrong, or the operator disabled the app. Keep the tokens of your users: they work again once this is mended.',
  },
  invalid_grant: {
    statuses: [400],
    remedy:
      "The code or refresh token is unknown, used, expired, revoked or another app's, or redirect_uri or code_verifier does not belong to it. Do not retry: delete the tokens and send the user through the flow again.",
  },
  invalid_scope: {
    statuses: ['redirect', 400],
    remedy:
      'Ask for at least one scope, and only for those that the app is registered for; when you refresh, only for what the user granted.',
  },
  unsupported_grant_type: {
    statuses: [400],
    remedy: 'Send authorization_code or refresh_token as grant_type.',
  },
  unsupported_response_type: { statuses: ['redirect'], remedy: 'Send code as response_type.' },
  access_denied: {
    statuses: ['redirect'],
    remedy:
      'The user said no. Go on without access, and ask again when they next want what needs it.',
  },
  interaction_required: {
    statuses: ['redirect'],
    remedy: 'The request said prompt=none, but the user is always asked. Leave it out.',
  },
  request_not_supported: {
    statuses: ['redirect'],
    remedy: 'Send plain parameters in place of a request object (request).',
  },
  request_uri_not_supported: {
    statuses: ['redirect'],
    remedy: 'Send plain parameters in place of a request object (request_uri).',
  },
  server_error: {
    statuses: [500],
    remedy:
      'A fault of ours. Keep the tokens, try again later, and tell support the X-Request-Id of the answer.',
  },
  temporarily_unavailable: {
    statuses: [503],
    remedy:
      'Not your fault. Keep the tokens, wait as long as Retry-After says, then send the same again.',
  },
  too_many_attempts: {
    statuses: [429, 503],
    remedy:
      'Wait as long as Retry-After says, then try again once. The status is 503 for a revocation (RFC 7009, section 2.2.1): the token still works, so revoke it later.',
  },
};

export const oauthCodes: readonly OAuthCodeEntry[] = Object.entries(OAUTH_REMEDIES).map(
  ([code, entry]) => ({ code, ...entry }),
);
