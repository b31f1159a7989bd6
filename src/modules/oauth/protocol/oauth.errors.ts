/** The error codes of RFC 6749 §4.1.2.1 and §5.2, and our own for throttling. */
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
 * An error that the client may read: `message` becomes `error_description`, which RFC 6749 §5.2 limits to printable
 * ASCII without quotes and backslashes, and which never repeats what was sent.
 */
export abstract class OAuthError extends Error {
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

/** What whoever sent a client secret in a URL must know (RFC 6749 §2.3.1). */
const SECRET_LEAKED =
  'The client secret was sent in a URL, where proxies and logs keep it: it has leaked and must be rotated.';

/** A client secret is in the query of the address. */
export class SecretExposed extends InvalidRequest {
  constructor() {
    super(`${SECRET_LEAKED} Send the new one with HTTP Basic or in the form.`);
  }
}

/** No endpoint has this path under `/oauth`: answered 404. */
export class UnknownEndpoint extends InvalidRequest {
  constructor() {
    super('There is no such endpoint. The documentation lists them all.');
  }
}

/** The form is longer than any honest one: answered 413. */
export class FormTooLarge extends InvalidRequest {
  constructor() {
    super('The form is too large.');
  }
}

/** The form did not arrive in time: answered 408. */
export class FormTooSlow extends InvalidRequest {
  constructor() {
    super('The form did not arrive in time. Send it at once, on a new connection.');
  }
}

/** The app is unknown, disabled or did not prove who it is; `challenge` where it tried HTTP Basic (RFC 6749 §5.2). */
export class InvalidClient extends OAuthError {
  constructor(
    readonly challenge: boolean,
    description = 'The client is unknown or its credentials are wrong.',
  ) {
    super('invalid_client', description);
  }
}

/** The request does not say which app makes it: no client authentication is included (RFC 6749 §5.2). */
export class UnnamedClient extends InvalidClient {
  constructor() {
    super(
      false,
      'Say which client this is: send client_id and client_secret with HTTP Basic or in the form; a public app sends its client_id alone.',
    );
  }
}

/**
 * The code or refresh token is unknown, expired, used, revoked, or another app's. A public app that shows one which was once
 * issued to it does not guess, so it is no failed attempt: thousands of its users may share one address, and each
 * has such a token left when access ended. (A confidential app has proved itself, and has no failed attempts anyway.)
 */
export class InvalidGrant extends OAuthError {
  constructor(
    description: string,
    readonly isGuess = true,
  ) {
    super('invalid_grant', description);
  }
}

export class InvalidScope extends OAuthError {
  constructor(description: string) {
    super('invalid_scope', description);
  }
}

export class UnsupportedGrantType extends OAuthError {
  constructor() {
    super('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token.');
  }
}

export class UnsupportedResponseType extends OAuthError {
  constructor() {
    super('unsupported_response_type', 'response_type must be code.');
  }
}

export class AccessDenied extends OAuthError {
  constructor() {
    super('access_denied', 'The user did not allow it.');
  }
}

/** The app asked for an answer without asking the user, who always decides (OpenID Connect Core §3.1.2.6, by analogy). */
export class InteractionRequired extends OAuthError {
  constructor() {
    super('interaction_required', 'The user must be asked: leave prompt=none out.');
  }
}

/** The request comes in a request object, which is not understood here (OpenID Connect Core §3.1.2.6). */
export class RequestNotSupported extends OAuthError {
  constructor(parameter: 'request' | 'request_uri') {
    super(`${parameter}_not_supported`, `${parameter} is not supported: send plain parameters.`);
  }
}

/** The endpoint exists, but not for this method: answered 405 with the methods it has. */
export class MethodNotAllowed extends InvalidRequest {
  /** `exposed`: a client secret is in the address. */
  constructor(
    readonly allow: string,
    exposed = false,
  ) {
    const description = `This endpoint does not take this method. It takes ${allow}.`;
    super(exposed ? `${description} ${SECRET_LEAKED}` : description);
  }
}

/** A rate limit is exceeded (source document, sections 7 and 8). */
export class TooManyAttempts extends OAuthError {
  constructor(readonly retryAfterSeconds: number) {
    super('too_many_attempts', `Too many attempts. Try again in ${retryAfterSeconds} seconds.`);
  }
}

/** A fault of ours. */
export class ServerError extends OAuthError {
  constructor() {
    super('server_error', 'Something went wrong on our side.');
  }
}

/** The database is away, overloaded or too slow, there is too much to do, or the service ends. */
export class TemporarilyUnavailable extends OAuthError {
  constructor(readonly retryAfterSeconds = 5) {
    super('temporarily_unavailable', 'The service is not available right now. Try again.');
  }
}
