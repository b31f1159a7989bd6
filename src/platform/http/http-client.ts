import { DAY, SECOND } from '../clock.js';

/** The response of another service, without its body. */
export interface HttpResult {
  status: number;
  headers: Headers;
}

/** Why there is no response. `code` is a system error code, such as ECONNREFUSED, or `unknown`. */
export type RequestFailure = { kind: 'timeout' } | { kind: 'connection'; code: string };

/** Sends one HTTP request without following redirects. Never throws: returns a failure if there is no response. */
export async function httpCall(
  url: string,
  timeoutMs: number,
  init: Omit<RequestInit, 'signal' | 'redirect'>,
): Promise<HttpResult | RequestFailure> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { ...init, signal, redirect: 'manual' });
    // Callers need only status and headers, so an error while discarding the body is ignored.
    await response.body?.cancel().catch(() => undefined);
    return { status: response.status, headers: response.headers };
  } catch (error) {
    return signal.aborted
      ? { kind: 'timeout' }
      : { kind: 'connection', code: connectionCode(error) };
  }
}

/** Describes a failure as a predicate, to follow the name of the other service: `did not respond in time`. */
export function describeFailure(failure: RequestFailure): string {
  if (failure.kind === 'timeout') return 'did not respond in time';
  return `could not be reached (${failure.code})`;
}

/** The three formats of a date in HTTP (RFC 9110 §5.6.7). `Date.parse` would accept almost any text. */
const HTTP_DATE = /^[A-Z][a-z]+, .+ GMT$|^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/;

/**
 * The value of `Retry-After` in milliseconds from `now`: a number of seconds, of which at most a day counts, or a date (RFC 9110
 * §10.2.3). 0 if it is neither.
 */
export function parseRetryAfter(value: string | null, now: Date): number {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(Number(text) * SECOND, DAY);
  // One of the formats has no time zone, and means UTC.
  const time = HTTP_DATE.test(text) ? Date.parse(text.replace(/\d$/, '$& GMT')) : Number.NaN;
  return Number.isNaN(time) ? 0 : Math.max(0, time - now.getTime());
}

/** The cause of a `fetch` error has the system error code. */
function connectionCode(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : 'unknown';
}
