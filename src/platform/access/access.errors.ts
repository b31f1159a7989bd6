import { AppError, InvalidRequest } from '../errors.js';
import type { Scope } from './scopes.js';

const CHALLENGE = 'Bearer realm="dev"';

/** The request sends credentials more than once (RFC 6750 §2). */
export class SeveralCredentials extends InvalidRequest {
  constructor(description = 'Send one Authorization header, not several.') {
    super(description);
  }
}

/** The request has no bearer token, so the challenge has no error code (RFC 6750 §3.1). */
export class Unauthorized extends AppError {
  constructor() {
    super(
      'unauthorized',
      'This endpoint needs an access token. Send it in the header: Authorization: Bearer <access token>.',
      { headers: { 'WWW-Authenticate': CHALLENGE } },
    );
  }
}

const NEW_TOKEN_ADVICE =
  'Get a new one with the refresh token; if that fails too, send the user through the authorization flow again.';

/** The token is malformed, unknown, expired or revoked, its app is disabled, or its user is blocked (RFC 6750 §3.1). */
export class InvalidToken extends AppError {
  static malformed(): InvalidToken {
    return new InvalidToken(
      'The access token is malformed',
      'Send it exactly as the token endpoint returned it.',
    );
  }

  static unknown(): InvalidToken {
    return new InvalidToken('The access token is unknown or was revoked', NEW_TOKEN_ADVICE);
  }

  static expired(): InvalidToken {
    return new InvalidToken('The access token expired', NEW_TOKEN_ADVICE);
  }

  private constructor(reason: string, advice: string) {
    super('invalid_token', `${reason}. ${advice}`, {
      headers: {
        'WWW-Authenticate': `${CHALLENGE}, error="invalid_token", error_description="${reason}"`,
      },
    });
  }
}

/** The token is valid but lacks the scope of the endpoint (RFC 6750 §3.1; product requirements, section 5.8). */
export class InsufficientScope extends AppError {
  constructor(scope: Scope) {
    super(
      'insufficient_scope',
      `This endpoint needs the scope ${scope}. Send the user through the authorization flow again and request it.`,
      {
        headers: {
          'WWW-Authenticate': `${CHALLENGE}, error="insufficient_scope", error_description="The access token lacks the scope ${scope}", scope="${scope}"`,
        },
      },
    );
  }
}
