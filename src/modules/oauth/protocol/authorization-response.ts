import type { Response } from 'express';
import type { OAuthError } from './oauth.errors.js';

/** An authorization request that failed after its redirect was proven: the app is told (RFC 6749 §4.1.2.1). */
export class AuthorizationRefused extends Error {
  constructor(
    readonly redirectUri: string,
    readonly state: string | undefined,
    readonly error: OAuthError,
  ) {
    super(error.message);
    this.name = 'AuthorizationRefused';
  }
}

/** Where the browser goes with a code (RFC 6749 §4.1.2), naming the issuer (RFC 9207 §2). */
export function codeRedirect(
  redirectUri: string,
  response: { code: string; state: string; iss: string },
): string {
  return withQuery(redirectUri, response);
}

/** Where the browser goes with an error (RFC 6749 §4.1.2.1). */
export function errorRedirect(
  { redirectUri, state, error }: AuthorizationRefused,
  iss: string,
): string {
  return withQuery(redirectUri, {
    error: error.code,
    error_description: error.message,
    ...(state !== undefined && { state }),
    iss,
  });
}

/** 303, so that no browser posts the form again, and an empty body, so that nothing of the request is repeated in it (RFC 9700 §4.12). */
export function sendRedirect(response: Response, location: string): void {
  response.status(303).set({ Location: location, 'Cache-Control': 'no-store' }).end();
}

/** Keeps a query that is there; spaces become `%20`, which every client decodes. */
function withQuery(uri: string, parameters: Record<string, string>): string {
  const query = Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  return `${uri}${uri.includes('?') ? '&' : '?'}${query}`;
}
