import type { Error as ApiErrorBody, ErrorCode, FieldError } from './operations.js';

/** Base class of all errors of this client. */
export class ClientError extends Error {
  override readonly name: string = 'ClientError';
}

/** The request got no complete response: the network failed, or the timeout passed. The request may have been executed. */
export class NoResponseError extends ClientError {
  override readonly name = 'NoResponseError';
}

/** The redirect does not belong to this authorization request: do not use it. */
export class CallbackError extends ClientError {
  override readonly name = 'CallbackError';

  constructor(
    /** The missing, repeated or wrong parameter. */
    readonly parameter: string,
    message: string,
  ) {
    super(message);
  }
}

/** The request to your endpoint for events is not from the platform, or it is too old: respond with 400. */
export class WebhookError extends ClientError {
  override readonly name = 'WebhookError';

  constructor(
    /** The missing or wrong header. */
    readonly header: string,
    message: string,
  ) {
    super(message);
  }
}

/** The app has no valid tokens for this user: they were revoked or have expired. Send the user through the flow again. */
export class AuthorizationRequiredError extends ClientError {
  override readonly name = 'AuthorizationRequiredError';
}

/** What both kinds of error responses have. */
export interface ErrorDetails {
  /** Branch on the code: descriptions may change. */
  code: string;
  description: string;
  /** HTTP status; undefined if the error came with a redirect. */
  status?: number | undefined;
  /** Id of the request, for support. */
  requestId?: string | undefined;
  /** Seconds to wait before a retry. */
  retryAfter?: number | undefined;
}

class ResponseError extends ClientError {
  readonly code: string;
  readonly description: string;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;

  constructor({ code, description, status, requestId, retryAfter }: ErrorDetails) {
    super(`${code}: ${description}${requestId === undefined ? '' : ` (${requestId})`}`);
    this.code = code;
    this.description = description;
    this.status = status;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

/** An error of the authorization server, such as `access_denied` or `invalid_client` (RFC 6749 §4.1.2.1 and §5.2). */
export class OAuthError extends ResponseError {
  override readonly name = 'OAuthError';
}

/** An error of the API. */
export class ApiError extends ResponseError {
  override readonly name = 'ApiError';
  /** New codes may be added. */
  declare readonly code: ErrorCode | (string & Record<never, never>);
  /** The invalid fields. */
  readonly errors: readonly FieldError[];
  readonly docUrl: string | undefined;
  /** With `insufficient_scope`: the scope to request. */
  readonly requiredScope: string | undefined;

  constructor(details: ErrorDetails, body: Partial<ApiErrorBody> = {}, challenge = '') {
    super(details);
    // A proxy in front of the service may send another kind of `errors`.
    this.errors = Array.isArray(body.errors) ? body.errors : [];
    this.docUrl = body.doc_url;
    this.requiredScope = /\bscope="([^"]*)"/.exec(challenge)?.[1];
  }
}
