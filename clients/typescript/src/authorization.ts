import { CallbackError, OAuthError } from './errors.js';
import { randomText, sha256 } from './random.js';
import type { CallOptions, Settings } from './settings.js';
import { requestTokens, type Tokens } from './tokens.js';

/** Store it in your session for this browser, and use it once. */
export interface PendingAuthorization {
  state: string;
  /** The PKCE code verifier (RFC 7636). */
  verifier: string;
}

export interface AuthorizationOptions {
  /** Scopes, separated by spaces. Request only what you need. */
  scope: string;
  /** Such as `login` or `consent`, separated by spaces. */
  prompt?: string | undefined;
  /** Languages of the pages in order of preference, separated by spaces. */
  uiLocales?: string | undefined;
}

/** Starts an authorization request: redirect the browser to `url`. */
export async function startAuthorization(
  settings: Settings,
  { scope, prompt, uiLocales }: AuthorizationOptions,
): Promise<{ url: string; pending: PendingAuthorization }> {
  const pending = { state: randomText(), verifier: randomText() };
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: settings.clientId,
    redirect_uri: settings.redirectUri,
    scope,
    state: pending.state,
    code_challenge: await sha256(pending.verifier),
    code_challenge_method: 'S256',
    ...(prompt !== undefined && { prompt }),
    ...(uiLocales !== undefined && { ui_locales: uiLocales }),
  });
  return { url: new URL(`/oauth/authorize?${query}`, settings.issuer).href, pending };
}

/**
 * Checks the redirect and exchanges its code for tokens. Call it in the handler of the redirect URI.
 * @param callback the requested URL, or its path and query
 * @throws CallbackError if `state` or `iss` is wrong, OAuthError if the user declined or the exchange failed, NoResponseError
 */
export async function finishAuthorization(
  settings: Settings,
  callback: URL | string,
  { state, verifier }: PendingAuthorization,
  options: CallOptions = {},
): Promise<Tokens> {
  const { searchParams } = new URL(callback, settings.redirectUri);
  const issuer = new URL(settings.issuer).origin;
  // An empty session has no state, and neither has the redirect of an attacker.
  if (!state || single(searchParams, 'state') !== state)
    throw new CallbackError('state', 'state differs from the authorization request.');
  // An attacker's server could otherwise get the code of this one (RFC 9207).
  if (single(searchParams, 'iss') !== issuer)
    throw new CallbackError('iss', `iss differs from the issuer ${issuer}.`);
  const error = single(searchParams, 'error');
  if (error !== undefined) {
    const description = single(searchParams, 'error_description') ?? '';
    throw new OAuthError({ code: error, description });
  }
  const code = single(searchParams, 'code');
  if (code === undefined) throw new CallbackError('code', 'code is missing.');
  const form = { grant_type: 'authorization_code', code, code_verifier: verifier };
  return requestTokens(settings, { ...form, redirect_uri: settings.redirectUri }, options);
}

/** The value of a parameter; undefined if it is missing. */
function single(query: URLSearchParams, name: string): string | undefined {
  const [value, second] = query.getAll(name);
  if (second !== undefined) throw new CallbackError(name, `${name} is repeated.`);
  return value;
}
