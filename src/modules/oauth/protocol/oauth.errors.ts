/** The error codes of our OAuth endpoints: from RFC 6749 §4.1.2.1 and §5.2, from OpenID Connect, and `too_many_attempts`. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'access_denied'
  | 'interaction_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'server_error'
  | 'temporarily_unavailable'
  | 'too_many_attempts';

/**
 * An error for the client. `message` becomes `error_description`: printable ASCII without double quotes and backslashes
 * (RFC 6749 §5.2). It never contains a value of the request.
 */
export class OAuthError extends Error {
  constructor(
    readonly code: OAuthErrorCode,
    description: string,
  ) {
    super(description);
    this.name = new.target.name;
  }
}

/** A parameter is missing, repeated or malformed. */
export class InvalidRequest extends OAuthError {
  constructor(description: string) {
    super('invalid_request', description);
  }
}

/** Description of the error if a client secret was sent in a URL (RFC 6749 §2.3.1). */
export const SECRET_LEAKED =
  'The client secret was sent in a URL, which proxies and logs record. It has leaked and must be rotated.';

/** No endpoint under `/oauth` has this path. Status 404. */
export class UnknownEndpoint extends InvalidRequest {
  constructor() {
    super('There is no such endpoint. The documentation lists them all.');
  }
}

/** Status 413. */
export class FormTooLarge extends InvalidRequest {
  constructor() {
    super('The form is too large.');
  }
}

/** Status 408. */
export class FormTooSlow extends InvalidRequest {
  constructor() {
    super('The form did not arrive in time. Send it again on a new connection.');
  }
}

export class InvalidClient extends OAuthError {
  /** Whether the request used HTTP Basic, so that the response needs `WWW-Authenticate` (RFC 6749 §5.2). */
  readonly needsChallenge: boolean;

  constructor({
    needsChallenge,
    description = 'The client is unknown or its credentials are wrong.',
  }: {
    needsChallenge: boolean;
    description?: string;
  }) {
    super('invalid_client', description);
    this.needsChallenge = needsChallenge;
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

/** A public app cannot introspect tokens, because it cannot authenticate (RFC 7662 §2.1). */
export class PublicIntrospection extends InvalidClient {
  constructor({ needsChallenge }: { needsChallenge: boolean }) {
    super({
      needsChallenge,
      description:
        'Introspection requires a client secret, which public apps do not have. Read the scope from the token response instead.',
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

export class UnsupportedResponseType extends OAuthError {
  constructor() {
    super('unsupported_response_type', 'response_type must be code.');
  }
}

export class AccessDenied extends OAuthError {
  constructor() {
    super('access_denied', 'The user denied access.');
  }
}

/** The request has `prompt=none`, but consent always requires the user (OpenID Connect Core §3.1.2.6, by analogy). */
export class InteractionRequired extends OAuthError {
  constructor() {
    super('interaction_required', 'The user must consent. Omit prompt=none.');
  }
}

/** Request objects are not supported (OpenID Connect Core §3.1.2.6). */
export class RequestNotSupported extends OAuthError {
  constructor(parameter: 'request' | 'request_uri') {
    super(`${parameter}_not_supported`, `${parameter} is not supported. Send plain parameters.`);
  }
}

/** Status 405. `allow` lists the supported methods. */
export class MethodNotAllowed extends InvalidRequest {
  /** @param hasSecret whether the URL contains a client secret, which has then leaked */
  constructor(
    readonly allow: string,
    hasSecret: boolean,
  ) {
    const description = `This endpoint does not support this method. It supports ${allow}.`;
    super(hasSecret ? `${description} ${SECRET_LEAKED}` : description);
  }
}

/** A rate limit is exceeded (product requirements, sections 7 and 8). */
export class TooManyAttempts extends OAuthError {
  constructor(readonly retryAfterSeconds: number) {
    super('too_many_attempts', `Too many attempts. Try again in ${retryAfterSeconds} seconds.`);
  }
}

export class ServerError extends OAuthError {
  constructor() {
    super('server_error', 'Something went wrong on our side.');
  }
}

/** The database is unavailable, or the service is overloaded or shutting down. */
export class TemporarilyUnavailable extends OAuthError {
  constructor(readonly retryAfterSeconds = 5) {
    super('temporarily_unavailable', 'The service is not available right now. Try again.');
  }
}
