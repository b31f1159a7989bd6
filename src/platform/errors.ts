import { retryAfter } from './retry-after.js';

/**
 * The error codes of the API, in the order of the documents. `remedy` is HTML for the page `/docs/errors`: what the error means and
 * what the client must do.
 */
export const API_ERRORS = {
  invalid_request: {
    status: 400,
    remedy:
      'Correct the fields listed in <code>errors</code>; without a list, see <code>error_description</code>. Nothing was stored. Each entry of the list has a <a href="#field-codes">field error code</a>.',
  },
  unauthorized: {
    status: 401,
    remedy: 'Send the access token in the header Authorization: Bearer &lt;access token&gt;.',
  },
  invalid_token: {
    status: 401,
    remedy:
      'Get a new access token with the refresh token. If that fails, send the user through the authorization flow again.',
  },
  insufficient_scope: {
    status: 403,
    remedy:
      'Send the user through the authorization flow again and request the scope that error_description names.',
  },
  not_found: {
    status: 404,
    remedy:
      'The path or the resource does not exist, or the resource belongs to another user. The response does not reveal whether a resource exists.',
  },
  method_not_allowed: { status: 405, remedy: 'Use a method listed in the Allow header.' },
  request_timeout: {
    status: 408,
    remedy: 'The body did not arrive in time. Send the request again on a new connection.',
  },
  idempotency_key_in_use: {
    status: 409,
    remedy:
      'The first request with this Idempotency-Key is still in progress. Wait for Retry-After seconds, then repeat the request.',
  },
  payload_too_large: { status: 413, remedy: 'Send a smaller body.' },
  unsupported_media_type: {
    status: 415,
    remedy: 'Send JSON in UTF-8, with the header Content-Type: application/json.',
  },
  idempotency_key_reused: {
    status: 422,
    remedy:
      'This Idempotency-Key was used with a different request. Use a new key for each new request, and the same key only to repeat a request.',
  },
  quota_exceeded: {
    status: 429,
    remedy:
      'The app has reached its monthly limit of posts. Wait until the reset that error_description names, or ask the operator for a higher limit. Retry-After is at most a week.',
  },
  too_many_requests: {
    status: 429,
    remedy:
      'The app sent too many comments and deletions for this user within a minute. Wait for Retry-After seconds, then continue at the rate that RateLimit-Policy allows.',
  },
  internal_error: {
    status: 500,
    remedy: 'An error in the service. Contact support with the request_id.',
  },
  service_unavailable: {
    status: 503,
    remedy: 'The service is temporarily unavailable. Repeat the request after Retry-After seconds.',
  },
} as const satisfies Record<string, { status: number; remedy: string }>;

/** The stable code of an error body's `error` member. */
export type ErrorCode = keyof typeof API_ERRORS;

/** The codes of field errors. The value is the meaning, for the page `/docs/errors`. */
export const FIELD_ERRORS = {
  required: 'The field is missing or null.',
  wrong_type: 'The value has the wrong JSON type, or a numeric parameter is not a whole number.',
  unknown_field:
    'The body has an unknown field. The message lists the known fields and suggests the closest one.',
  too_small: 'The number is less than the minimum in the message.',
  too_large: 'The number is greater than the maximum in the message.',
  too_short: 'The text has fewer characters than the minimum in the message.',
  too_long:
    'The text has more characters than the maximum in the message. Characters are Unicode code points.',
  too_many: 'The list has more items than the maximum in the message.',
  too_deep: 'The body is nested too deeply.',
  blank: 'The text is empty or has no visible characters.',
  control_character:
    'The text contains a control character, or a line break or tab in a single-line field.',
  not_well_formed: 'The text contains an unpaired surrogate, or the body is not valid UTF-8.',
  invalid_format: 'The value does not have the format described in the message.',
  not_allowed_value: 'The value is not one of the values listed in the message.',
  pair_required: 'The field requires a second field: send both or neither.',
  one_of_required: 'The body has none of the fields of which at least one is required.',
  invalid_reference: 'The value refers to a resource that does not exist or cannot be used here.',
} as const;

/** The stable code of one field's error. */
export type FieldErrorCode = keyof typeof FIELD_ERRORS;

/** `field` is the name of a member of the body, a query parameter or a header; empty for the whole body. */
export interface FieldError {
  field: string;
  code: FieldErrorCode;
  message: string;
}

export interface ErrorExtras {
  errors?: readonly FieldError[];
  /** Response headers, such as `WWW-Authenticate` or `Retry-After`. */
  headers?: Readonly<Record<string, string>>;
}

/**
 * An error for the client: `message` becomes `error_description`, and `code` selects the status. The messages of all other errors
 * stay internal: `toAppError` converts them.
 */
export abstract class AppError extends Error {
  constructor(
    readonly code: ErrorCode,
    description: string,
    readonly extras: ErrorExtras = {},
  ) {
    super(description);
    this.name = new.target.name;
  }

  /** Not `status`, because the body parsers of Express assign that. */
  get httpStatus(): number {
    return API_ERRORS[this.code].status;
  }
}

export const MAX_FIELD_ERRORS = 20;

export class InvalidRequest extends AppError {
  static field(field: string, code: FieldErrorCode, message: string): InvalidRequest {
    return InvalidRequest.fields([{ field, code, message }]);
  }

  static fields(errors: readonly FieldError[]): InvalidRequest {
    const reported = errors.slice(0, MAX_FIELD_ERRORS);
    const fields = reported.map(({ field }) => field).filter((field) => field !== '');
    const count = `${errors.length > reported.length ? 'At least ' : ''}${fields.length}`;
    const verb = fields.length === 1 ? 'field is' : 'fields are';
    const summary = `${count} ${verb} invalid: ${[...new Set(fields)].join(', ')}.`;
    const bodyMessages = reported.filter(({ field }) => field === '').map(({ message }) => message);
    const sentences = fields.length > 0 ? [summary, ...bodyMessages] : bodyMessages;
    return new InvalidRequest(sentences.join(' '), { errors: reported });
  }

  constructor(description: string, extras?: ErrorExtras) {
    super('invalid_request', description, extras);
  }
}

export class NotFound extends AppError {
  constructor(description: string) {
    super('not_found', description);
  }
}

/** The path has no route. */
export class UnknownPath extends NotFound {
  constructor() {
    super('There is no such endpoint. The documentation lists them all.');
  }
}

/** The path has routes, but none for this method. `Allow` lists the supported methods (RFC 9110 §15.5.6). */
export class MethodNotAllowed extends AppError {
  constructor(allow: string) {
    const description = `This endpoint does not support this method. It supports ${allow}.`;
    super('method_not_allowed', description, { headers: { Allow: allow } });
  }
}

export class InternalError extends AppError {
  constructor() {
    super(
      'internal_error',
      'Something went wrong on our side. Include the request_id when you contact support.',
    );
  }
}

/** The default `Retry-After` of 503 responses. */
export const RETRY_SECONDS = 5;

export class ServiceUnavailable extends AppError {
  constructor(readonly retryAfterSeconds = RETRY_SECONDS) {
    const seconds = retryAfterSeconds === 1 ? 'second' : 'seconds';
    super(
      'service_unavailable',
      `The service is not available right now. Try again in ${retryAfterSeconds} ${seconds}.`,
      { headers: retryAfter(retryAfterSeconds) },
    );
  }
}

const MAX_OVERLOAD_SECONDS = 3;

/** The process sheds load. Jitter of `Retry-After` spreads the retries. */
export class Overloaded extends ServiceUnavailable {
  constructor() {
    super(1 + Math.floor(Math.random() * MAX_OVERLOAD_SECONDS));
  }
}

/** The clock is wrong, so the job would delete too much, or close a month early. For operators only. */
export class JobRefused extends Error {
  constructor(problem: string) {
    super(`The job did not run, because ${problem}.`);
  }
}
