import type { Response } from 'express';
import type { OAuthError } from './oauth.errors.js';

/** An authorization request that failed after its redirect URI was verified: an error for the app (RFC 6749 §4.1.2.1). */
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

/** The URL of a successful response (RFC 6749 §4.1.2, RFC 9207 §2). */
export function codeRedirect(
  redirectUri: string,
  response: { code: string; state: string; iss: string },
): string {
  return withQuery(redirectUri, response);
}

/** The URL of an error response (RFC 6749 §4.1.2.1). */
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

/** 303, so that no browser sends the form again (RFC 9700 §4.12), and an empty body, which repeats nothing of the request. */
export function sendRedirect(response: Response, location: string): void {
  response.status(303).set({ Location: location, 'Cache-Control': 'no-store' }).end();
}

/** Adds to the query of the URI. Spaces become `%20`, which every client decodes. */
function withQuery(uri: string, parameters: Record<string, string>): string {
  const query = Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  return `${uri}${uri.includes('?') ? '&' : '?'}${query}`;
}
