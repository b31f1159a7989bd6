import { AuthorizationRequiredError, OAuthError } from './errors.js';
import { errorDetails, sendOnce } from './http.js';
import { abortable, withRetries, type Attempts } from './retry.js';
import type { CallOptions, Settings } from './settings.js';

/** The tokens of one user. They can be stored as JSON. */
export interface Tokens {
  accessToken: string;
  refreshToken: string;
  /** What the user granted: possibly less than you requested. */
  scopes: string[];
  /** When the access token expires, in milliseconds since 1970. */
  expiresAt: number;
}

/** A store without tokens returns null or undefined. */
type StoredTokens = Tokens | null | undefined;

/** Where the tokens of one user are stored. Share one store object between all clients of this user in a process. */
export interface TokenStore {
  get(): StoredTokens | Promise<StoredTokens>;
  /** Replaces the tokens. The refresh waits for it. */
  set(tokens: Tokens): unknown;
  /** Deletes the tokens. */
  clear(): unknown;
  /**
   * Runs `work` while no other process or tab runs it for this user. Implement it if several may refresh the same tokens, because a
   * refresh token that is used twice counts as stolen. In browsers: `navigator.locks.request(name, work)`.
   */
  lock?<T>(work: () => Promise<T>): Promise<T>;
}

/** Stores tokens in memory. */
export function memoryStore(tokens?: Tokens): TokenStore {
  let current = tokens;
  return {
    get: () => current,
    set: (replacement) => {
      current = replacement;
    },
    clear: () => {
      current = undefined;
    },
  };
}

/** An access token that expires during the request is as good as expired. */
const EXPIRY_MARGIN_MS = 5000;

/** The refreshes in flight. All clients with the same store share one. */
const refreshes = new WeakMap<TokenStore, Promise<Tokens>>();

/**
 * A valid access token, after a refresh if necessary.
 * @param rejected an access token that the API has just rejected
 * @throws AuthorizationRequiredError
 */
export async function accessToken(
  settings: Settings,
  store: TokenStore,
  { signal }: CallOptions,
  rejected?: string,
): Promise<string> {
  const isUsable = (tokens: Tokens): boolean =>
    tokens.accessToken !== rejected && Date.now() < tokens.expiresAt - EXPIRY_MARGIN_MS;
  const tokens = await stored(store);
  if (isUsable(tokens)) return tokens.accessToken;
  let refresh = refreshes.get(store);
  if (refresh === undefined) {
    refresh = locked(store, () => refreshStored(settings, store, isUsable)).finally(() =>
      refreshes.delete(store),
    );
    refreshes.set(store, refresh);
  }
  // One caller that aborts must not abort the refresh of the others.
  return (await abortable(refresh, signal)).accessToken;
}

function locked<T>(store: TokenStore, work: () => Promise<T>): Promise<T> {
  return store.lock === undefined ? work() : store.lock(work);
}

async function stored(store: TokenStore): Promise<Tokens> {
  const tokens = await store.get();
  if (!tokens) throw new AuthorizationRequiredError('There are no tokens.');
  return tokens;
}

async function refreshStored(
  settings: Settings,
  store: TokenStore,
  isUsable: (tokens: Tokens) => boolean,
): Promise<Tokens> {
  // Another caller may have refreshed them before this one got the lock.
  const current = await stored(store);
  if (isUsable(current)) return current;
  try {
    const refreshed = await refreshTokens(settings, current.refreshToken);
    await store.set(refreshed);
    return refreshed;
  } catch (cause) {
    if (!(cause instanceof OAuthError) || cause.code !== 'invalid_grant') throw cause;
    const latest = await store.get();
    // Another process without a common lock was faster.
    if (latest && latest.refreshToken !== current.refreshToken) return latest;
    await store.clear();
    throw new AuthorizationRequiredError('The access was revoked or has expired.', { cause });
  }
}

/** Returns new tokens. The old refresh token is used up: store the new one first. @throws OAuthError, NoResponseError */
export function refreshTokens(
  settings: Settings,
  refreshToken: string,
  options: CallOptions = {},
): Promise<Tokens> {
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
  return requestTokens(settings, form, options);
}

/** The service repeats a lost response to a refresh for 30 seconds: within two seconds any number of times, later once. */
const REFRESH_MS = 28_000;
const FREE_REFRESH_MS = 1500;
/** For ten seconds, the service takes the repeat of a code for a retry. */
const EXCHANGE_MS = 8000;

/** Whether the repeat of a refresh does not look like the use of a stolen token. */
function isSafeRefresh({ lost, nextAt }: Attempts): boolean {
  return nextAt < FREE_REFRESH_MS || (lost <= 1 && nextAt < REFRESH_MS);
}

/** Whether the repeat of an exchange does not look like the use of a stolen code. */
function isSafeExchange({ lost, nextAt }: Attempts): boolean {
  return lost === 0 || nextAt < EXCHANGE_MS;
}

/** Sends a token request. @throws OAuthError, NoResponseError */
export async function requestTokens(
  settings: Settings,
  form: Record<string, string>,
  options: CallOptions,
): Promise<Tokens> {
  const send = (): Promise<Record<string, unknown>> =>
    postForm(settings, '/oauth/token', form, options);
  const isSafe = form.grant_type === 'refresh_token' ? isSafeRefresh : isSafeExchange;
  const body = await withRetries(settings, options.signal, send, isSafe);
  const { access_token, refresh_token, expires_in, scope } = body;
  if (
    typeof access_token !== 'string' ||
    typeof refresh_token !== 'string' ||
    typeof expires_in !== 'number' ||
    typeof scope !== 'string'
  ) {
    const description = 'The response has no valid tokens.';
    throw new OAuthError({ code: 'unknown_error', description, status: 200 });
  }
  return {
    accessToken: access_token,
    refreshToken: refresh_token,
    scopes: scope.split(' '),
    expiresAt: Date.now() + expires_in * 1000,
  };
}

/**
 * Revokes a token. A refresh token: all tokens of this authorization. An access token: only this one.
 * @throws OAuthError, NoResponseError
 */
export async function revokeToken(
  settings: Settings,
  token: string,
  options: CallOptions = {},
): Promise<void> {
  const send = (): Promise<unknown> => postForm(settings, '/oauth/revoke', { token }, options);
  await withRetries(settings, options.signal, send);
}

/** Revokes the authorization and clears the store: the user disconnects the app. @throws OAuthError, NoResponseError */
export async function disconnect(
  settings: Settings,
  store: TokenStore,
  options: CallOptions = {},
): Promise<void> {
  // A refresh in flight would store its tokens after the store is cleared.
  const refresh = refreshes.get(store)?.catch(() => undefined);
  if (refresh) await abortable(refresh, options.signal);
  const tokens = await store.get();
  if (tokens) await revokeToken(settings, tokens.refreshToken, options);
  await store.clear();
}

/** Confidential apps authenticate with HTTP Basic, public apps send their id in the form. */
async function postForm(
  settings: Settings,
  path: string,
  form: Record<string, string>,
  options: CallOptions,
): Promise<Record<string, unknown>> {
  const { clientId, clientSecret } = settings;
  const body = new URLSearchParams(form);
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
  if (clientSecret) {
    const credentials = [clientId, clientSecret].map(encodeURIComponent).join(':');
    headers.authorization = `Basic ${btoa(credentials)}`;
  } else body.set('client_id', clientId);
  const request = { method: 'POST', path, headers, body: String(body) };
  const response = await sendOnce(settings, request, options);
  if (response.status !== 200 || !response.body) throw new OAuthError(errorDetails(response));
  return response.body;
}
