import type { ErrorCode } from '../../common/errors.js';
import { ERROR_STATUS } from '../../http/error-status.js';
import { markup, type Text } from '../../pages/catalogue/markup.js';
import type { ErrorCodeEntry } from '../../pages/views.js';

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

/** Every code of the developer API's errors, as the documentation lists them. */
export const errorCodes: readonly ErrorCodeEntry[] = (Object.keys(ERROR_STATUS) as ErrorCode[]).map(
  (code) => ({
    code,
    status: ERROR_STATUS[code],
    remedy: REMEDIES[code],
  }),
);
