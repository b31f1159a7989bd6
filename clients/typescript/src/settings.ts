/** Your app, and how its requests are sent. */
export interface Settings {
  /** URL of the service, such as `https://dev.example.com`. */
  issuer: string;
  clientId: string;
  /** Only for confidential apps, which run on a server. */
  clientSecret?: string | undefined;
  /** As registered. */
  redirectUri: string;
  /** Sends the requests; by default the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Timeout of each attempt. 25 seconds by default, because the service may wait for its database for more than 20. */
  timeoutMs?: number | undefined;
  /** Attempts after the first one. 4 by default. */
  maxRetries?: number | undefined;
  /** If `Retry-After` is longer than this, the call fails at once. 65 seconds by default. */
  maxRetryWaitMs?: number | undefined;
  /** Called for every response, for logs and for headers such as `RateLimit` and `Deprecation`. Its errors are only logged, also those of a promise that it returns. */
  onResponse?: ((response: Pick<Response, 'status' | 'headers' | 'url'>) => unknown) | undefined;
}

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call, its retries included. */
  signal?: AbortSignal | undefined;
  /** Overrides `timeoutMs` of the settings. */
  timeoutMs?: number | undefined;
}
