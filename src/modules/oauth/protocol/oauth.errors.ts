import { RETRY_SECONDS } from '../../../platform/errors.js';
import { retryAfter } from '../../../platform/retry-after.js';

/**
 * The error codes of our OAuth endpoints: from RFC 6749 §4.1.2.1 and §5.2, from OpenID Connect, and `too_many_attempts`. `redirect`
 * means that the redirect URI receives the code; the first HTTP status is the default. `remedy` is HTML for the page `/docs/errors`:
 * what the error means and what the client must do.
 */
export const OAUTH_ERRORS = {
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
} as const satisfies Record<string, { statuses: readonly ('redirect' | number)[]; remedy: string }>;

export type OAuthErrorCode = keyof typeof OAUTH_ERRORS;

/**
 * An error for the client. `message` becomes `error_description`: printable ASCII without double quotes and backslashes
 * (RFC 6749 §5.2). It never contains a value of the request.
 */
export class OAuthError extends Error {
  /** If the error is not sent to the redirect URI. Not `status`, because the body parsers of Express assign that. */
  readonly httpStatus: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    readonly code: OAuthErrorCode,
    description: string,
    { status, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
  ) {
    super(description);
    this.name = new.target.name;
    this.httpStatus = status ?? responseStatuses(code)[0] ?? 400;
    this.headers = headers;
  }
}

/** The HTTP statuses of a code; none if only redirect URIs receive it. */
function responseStatuses(code: OAuthErrorCode): number[] {
  return OAUTH_ERRORS[code].statuses.filter((status) => status !== 'redirect');
}

/** The error codes in response bodies. */
export const OAUTH_RESPONSE_CODES = (Object.keys(OAUTH_ERRORS) as OAuthErrorCode[]).filter(
  (code) => responseStatuses(code).length > 0,
);

type InvalidRequestStatus = Exclude<
  (typeof OAUTH_ERRORS)['invalid_request']['statuses'][number],
  'redirect'
>;

/** A parameter is missing, repeated or malformed. */
export class OAuthInvalidRequest extends OAuthError {
  constructor(
    description: string,
    response?: { status: InvalidRequestStatus; headers?: Record<string, string> },
  ) {
    super('invalid_request', description, response);
  }
}

/** Description of the error if a client secret was sent in a URL (RFC 6749 §2.3.1). */
export const SECRET_LEAKED =
  'The client secret was sent in a URL, which proxies and logs record. It has leaked and must be rotated.';

export class FormTooLarge extends OAuthInvalidRequest {
  constructor() {
    super('The form is too large.', { status: 413 });
  }
}

export class FormTooSlow extends OAuthInvalidRequest {
  constructor() {
    super('The form did not arrive in time. Send it again on a new connection.', { status: 408 });
  }
}

export class InvalidClient extends OAuthError {
  /** The app that the request claims to be; undefined if there is no such app. Only for the audit log. */
  readonly clientId: string | undefined;

  /** @param options.needsChallenge whether the request used HTTP Basic, so that the response needs `WWW-Authenticate` (RFC 6749 §5.2) */
  constructor({
    needsChallenge,
    description = 'The client is unknown or its credentials are wrong.',
    clientId,
  }: {
    needsChallenge: boolean;
    description?: string;
    clientId?: string;
  }) {
    super('invalid_client', description, {
      headers: needsChallenge
        ? { 'WWW-Authenticate': 'Basic realm="oauth", charset="UTF-8"' }
        : undefined,
    });
    this.clientId = clientId;
  }
}

/** The request has no `client_id`. */
export class MissingClientId extends InvalidClient {
  constructor() {
    super({
      needsChallenge: false,
      description:
        'client_id is required. Send client_id and client_secret with HTTP Basic or in the form; a public app sends only its client_id.',
    });
  }
}

/** The `Authorization` header is not HTTP Basic. */
export class MalformedBasic extends InvalidClient {
  constructor() {
    super({
      needsChallenge: true,
      description:
        'The Authorization header is malformed. Send Basic, a space, and the Base64 of client_id:client_secret, or send both in the form.',
    });
  }
}

/**
 * The code or refresh token is unknown, expired, used, revoked, or was issued to another app. Or `redirect_uri` or `code_verifier`
 * does not match the code.
 */
export class InvalidGrant extends OAuthError {
  /**
   * False if this app sent a code or token of its own that is no longer valid: thousands of users of a public app may share one
   * address, and each may send one.
   */
  readonly countsAsFailedAttempt: boolean;

  constructor(description: string, { countsAsFailedAttempt = true } = {}) {
    super('invalid_grant', description);
    this.countsAsFailedAttempt = countsAsFailedAttempt;
  }
}

export class InvalidScope extends OAuthError {
  constructor(description: string) {
    super('invalid_scope', description);
  }
}

/** A rate limit is exceeded (product requirements, sections 7 and 8). */
export class TooManyAttempts extends OAuthError {
  constructor(readonly retryAfterSeconds: number) {
    super('too_many_attempts', `Too many attempts. Try again in ${retryAfterSeconds} seconds.`, {
      headers: retryAfter(retryAfterSeconds),
    });
  }
}

export class ServerError extends OAuthError {
  constructor() {
    super('server_error', 'Something went wrong on our side.');
  }
}

/** The database is unavailable, or the service is overloaded or shutting down. */
export class TemporarilyUnavailable extends OAuthError {
  constructor(retryAfterSeconds = RETRY_SECONDS) {
    super('temporarily_unavailable', 'The service is not available right now. Try again.', {
      headers: retryAfter(retryAfterSeconds),
    });
  }
}
