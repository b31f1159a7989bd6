/** The stable code of an error body's `error` member. */
export type ErrorCode =
  | 'invalid_request'
  | 'unauthorized'
  | 'invalid_token'
  | 'insufficient_scope'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'idempotency_key_in_use'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'idempotency_key_reused'
  | 'quota_exceeded'
  | 'too_many_requests'
  | 'internal_error'
  | 'service_unavailable';

/** The stable code of one field's error. */
export type FieldErrorCode =
  | 'required'
  | 'wrong_type'
  | 'unknown_field'
  | 'too_small'
  | 'too_large'
  | 'too_short'
  | 'too_long'
  | 'too_many'
  | 'too_deep'
  | 'blank'
  | 'control_character'
  | 'not_well_formed'
  | 'invalid_format'
  | 'not_allowed_value'
  | 'pair_required'
  | 'one_of_required'
  | 'invalid_reference';

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
 * An error for the client: `message` becomes `error_description`, and the exception filter maps `code` to a status.
 * The messages of all other errors stay internal: `toAppError` converts them.
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
}

export const MAX_FIELD_ERRORS = 20;

export class InvalidRequest extends AppError {
  static readonly code = 'invalid_request';

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
    super(InvalidRequest.code, description, extras);
  }
}

export class NotFound extends AppError {
  static readonly code = 'not_found';

  constructor(description: string) {
    super(NotFound.code, description);
  }
}

export class ServiceUnavailable extends AppError {
  static readonly code = 'service_unavailable';

  constructor(readonly retryAfterSeconds = 5) {
    const seconds = retryAfterSeconds === 1 ? 'second' : 'seconds';
    super(
      ServiceUnavailable.code,
      `The service is not available right now. Try again in ${retryAfterSeconds} ${seconds}.`,
      { headers: { 'Retry-After': String(retryAfterSeconds) } },
    );
  }
}

/** The clock is wrong, so the job would delete too much, or close a month early. For operators only. */
export class JobRefused extends Error {
  constructor(problem: string) {
    super(`The job did not run, because ${problem}.`);
  }
}
