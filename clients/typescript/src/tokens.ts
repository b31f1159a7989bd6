import { AuthorizationRequiredError, OAuthError } from './errors.js';
import { errorDetails, sendOnce } from './http.js';
import { abortable, Attempts, withRetries } from './retry.js';
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

/** A refresh that has failed or is in flight. */
interface UnfinishedRefresh {
  refreshToken: string;
  attempts: Attempts;
  /** The new tokens, if only the store failed. */
  unsaved?: Tokens;
}

const unfinished = new WeakMap<TokenStore, UnfinishedRefresh>();

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
  const refresh = (): Promise<Tokens> => {
    let shared = refreshes.get(store);
    if (shared === undefined) {
      shared = locked(store, () => refreshStored(settings, store, isUsable)).finally(() =>
        refreshes.delete(store),
      );
      refreshes.set(store, shared);
    }
    // One caller that aborts must not abort the refresh of the others.
    return abortable(shared, signal);
  };
  const refreshed = await refresh();
  // The refresh of another caller may return the token that was rejected for this one.
  return (refreshed.accessToken === rejected ? await refresh() : refreshed).accessToken;
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
  let current = await stored(store);
  let attempts = new Attempts();
  const last = unfinished.get(store);
  if (last?.refreshToken === current.refreshToken) {
    if (last.unsaved) {
      current = last.unsaved;
      await save(store, current);
    } else if (attempts.firstAt - last.attempts.failedAt < REPLAY_MS) attempts = last.attempts;
  }
  // Another caller may have refreshed them before this one got the lock.
  if (isUsable(current)) return current;
  const { refreshToken } = current;
  const refresh: UnfinishedRefresh = { refreshToken, attempts };
  unfinished.set(store, refresh);
  try {
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
    refresh.unsaved = await requestTokens(settings, form, {}, attempts);
  } catch (cause) {
    if (!(cause instanceof OAuthError) || cause.code !== 'invalid_grant') throw cause;
    const latest = await store.get();
    // Another process without a common lock was faster.
    if (latest && latest.refreshToken !== refreshToken) return latest;
    await store.clear();
    throw new AuthorizationRequiredError('The access was revoked or has expired.', { cause });
  }
  await save(store, refresh.unsaved);
  return refresh.unsaved;
}

/** Stores the tokens of a refresh. If the store fails, the next refresh tries it again: the refresh token in the store is used up. */
async function save(store: TokenStore, tokens: Tokens): Promise<void> {
  await store.set(tokens);
  unfinished.delete(store);
}

/**
 * The service repeats a lost response to a refresh for 30 seconds: within two seconds any number of times, later once. It counts for
 * each refresh token, so the retries of a later call continue the count. Only the first request of a call is always sent: if no
 * earlier one arrived, nothing else saves the access; if the service takes it for theft, the new tokens were lost before.
 */
const REPLAY_MS = 30_000;
/** The limits of the service, less the time that a request may need to arrive. */
const REFRESH_MS = 28_000;
const FREE_REFRESH_MS = 1500;
/** For ten seconds, the service takes the repeat of a code for a retry. */
const EXCHANGE_MS = 8000;

/** Whether the repeat of a refresh does not look like the use of a stolen token. */
function isSafeRefresh(lost: number, nextAt: number): boolean {
  return nextAt < FREE_REFRESH_MS || (lost <= 1 && nextAt < REFRESH_MS);
}

/** Whether the repeat of an exchange does not look like the use of a stolen code. */
function isSafeExchange(lost: number, nextAt: number): boolean {
  return lost === 0 || nextAt < EXCHANGE_MS;
}

/** Sends a token request. @param attempts those with the same form in earlier calls @throws OAuthError, NoResponseError */
export async function requestTokens(
  settings: Settings,
  form: Record<string, string>,
  options: CallOptions,
  attempts?: Attempts,
): Promise<Tokens> {
  const send = (): Promise<Record<string, unknown>> =>
    postForm(settings, '/oauth/token', form, options);
  const isSafe = form.grant_type === 'refresh_token' ? isSafeRefresh : isSafeExchange;
  const body = await withRetries(settings, options.signal, send, isSafe, attempts);
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
  const work = locked(store, async () => {
    const tokens = await store.get();
    if (tokens) await revokeToken(settings, tokens.refreshToken, options);
    await store.clear();
  });
  await abortable(work, options.signal);
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
