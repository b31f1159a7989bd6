import type { Response } from 'express';
import type { OAuthError } from './oauth.errors.js';

/** An authorization request with a valid redirect URI failed. The app receives the error by redirect (RFC 6749 §4.1.2.1). */
export class AuthorizationError extends Error {
  /** Whether the user must confirm the redirect by a link. */
  needsConfirmation = false;

  constructor(
    readonly redirectUri: string,
    readonly state: string | undefined,
    readonly error: OAuthError,
  ) {
    super(error.message);
    this.name = 'AuthorizationError';
  }
}

/** The URL of a successful response (RFC 6749 §4.1.2, RFC 9207 §2). */
export function codeRedirect(
  redirectUri: string,
  response: { code: string; state: string; iss: string },
): string {
  return appendQuery(redirectUri, response);
}

/** The URL of an error response (RFC 6749 §4.1.2.1). */
export function errorRedirect(
  { redirectUri, state, error }: AuthorizationError,
  iss: string,
): string {
  return appendQuery(redirectUri, {
    error: error.code,
    error_description: error.message,
    ...(state !== undefined && { state }),
    iss,
  });
}

/** 303, so that the browser does not post the form again (RFC 9700 §4.12). The empty body reflects nothing of the request. */
export function sendRedirect(response: Response, location: string): void {
  response.status(303).set({ Location: location, 'Cache-Control': 'no-store' }).end();
}

/** Appends to the query of the URI. Encodes spaces as `%20`, which every client decodes. */
function appendQuery(uri: string, parameters: Record<string, string>): string {
  const query = Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  return `${uri}${uri.includes('?') ? '&' : '?'}${query}`;
}
