import { ApiError, type ErrorDetails, NoResponseError, OAuthError } from './errors.js';
import { MAX_TIMER_MS } from './http.js';
import type { Settings } from './settings.js';

const MAX_RETRIES = 4;
/** Longer than a limit per minute blocks. */
const MAX_RETRY_WAIT_MS = 65_000;
const FIRST_WAIT_MS = 250;
const MAX_BACKOFF_MS = 4000;

/** The attempts with one request so far. Times are those of `performance.now()`. */
export class Attempts {
  readonly firstAt = performance.now();
  /** When the last one failed. */
  failedAt = this.firstAt;
  /** Those that the service may have executed: all except those that a rate limit rejected. */
  lost = 0;
}

/**
 * Repeats `attempt` after failures that pass, with the same request. Waits for `Retry-After` plus a random time, so that clients do
 * not come back together.
 * @param isAllowed can forbid a retry that the settings allow. It gets the number of lost attempts, and the milliseconds from the
 * first attempt to the retry.
 * @param attempts those with the same request in earlier calls
 * @throws the last error
 */
export async function withRetries<T>(
  { maxRetries = MAX_RETRIES, maxRetryWaitMs = MAX_RETRY_WAIT_MS }: Settings,
  signal: AbortSignal | undefined,
  attempt: () => Promise<T>,
  isAllowed: (lost: number, nextAt: number) => boolean = () => true,
  attempts = new Attempts(),
): Promise<T> {
  for (let count = 1; ; count += 1) {
    attempts.lost += 1;
    try {
      return await attempt();
    } catch (error) {
      attempts.failedAt = performance.now();
      if (!isTemporary(error)) throw error;
      const { status, retryAfter = 0 } = error;
      if (status === 429) attempts.lost -= 1;
      if (count > maxRetries || retryAfter * 1000 > maxRetryWaitMs) throw error;
      const waitMs = waitBefore(error, count);
      const nextAt = attempts.failedAt - attempts.firstAt + waitMs;
      if (!isAllowed(attempts.lost, nextAt)) throw error;
      await sleep(waitMs, signal);
    }
  }
}

type Failure = Pick<ErrorDetails, 'status' | 'retryAfter'>;

/** Milliseconds until the next attempt. */
function waitBefore({ retryAfter }: Failure, count: number): number {
  const backoffMs = Math.min(FIRST_WAIT_MS * 2 ** (count - 1), MAX_BACKOFF_MS);
  const jitterMs = Math.random() * backoffMs;
  return (retryAfter === undefined ? backoffMs : retryAfter * 1000) + jitterMs;
}

/**
 * Whether the same request may succeed soon. Monthly quotas do not recover soon. The service may have executed a request that got no
 * response or a 5xx, but none whose body did not arrive (408). It can still be repeated: a POST of the API has its `Idempotency-Key`, the other methods and the revocation are
 * idempotent, and `requestTokens` limits the repeats of its requests.
 */
function isTemporary(error: unknown): error is Failure {
  if (error instanceof NoResponseError) return true;
  if (!(error instanceof ApiError || error instanceof OAuthError)) return false;
  const { status = 0, code } = error;
  if (status === 429) return code !== 'quota_exceeded';
  if (status === 409) return code === 'idempotency_key_in_use';
  return status === 408 || status >= 500;
}

/** @throws the reason of `signal` when it aborts */
function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout>;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(milliseconds, MAX_TIMER_MS));
  });
  return abortable(timeout, signal).finally(() => clearTimeout(timer));
}

/** The result of `work`, which continues when `signal` aborts. @throws the reason of `signal` */
export function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
