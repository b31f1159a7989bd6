import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { DAY, SECOND } from '../clock.js';

/** The response of another service. `body` is its beginning if the caller reads it, else empty. */
export interface HttpResult {
  status: number;
  headers: Headers;
  body: string;
}

/**
 * Why there is no response. `code` is a system error code, such as ECONNREFUSED, or `unknown`. `wasSent` is false if no byte of the
 * request left this machine: the name could not be resolved, or there was no connection.
 */
export type RequestFailure = { wasSent: boolean } & (
  { kind: 'timeout' } | { kind: 'connection'; code: string }
);

/** A larger body is cut off: another service must not fill the memory. */
const MAX_BODY_BYTES = 64 * 1024;

/** Whether the request of the current call of `httpCall` was sent. */
interface Call {
  wasSent: boolean;
}

const currentCall = new AsyncLocalStorage<Call>();
const callOfRequest = new WeakMap<object, Call>();
/**
 * `fetch` does not report whether a timeout came before the connection or after the request. Its diagnostics do.
 * @see https://undici.nodejs.org/#/docs/api/DiagnosticsChannel
 */
subscribe('undici:request:create', (message) => {
  const call = currentCall.getStore();
  if (call) callOfRequest.set((message as { request: object }).request, call);
});
subscribe('undici:client:sendHeaders', (message) => {
  const call = callOfRequest.get((message as { request: object }).request);
  if (call) call.wasSent = true;
});

/**
 * Sends one HTTP request without following redirects. Never throws: returns a failure if there is no response.
 * @param options.readsBody whether the result has the body: its first 64 KiB, or what arrived before the connection broke
 */
export function httpCall(
  url: string,
  timeoutMs: number,
  init: Omit<RequestInit, 'signal' | 'redirect'>,
  { readsBody = false } = {},
): Promise<HttpResult | RequestFailure> {
  const call: Call = { wasSent: false };
  return currentCall.run(call, async (): Promise<HttpResult | RequestFailure> => {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(url, { ...init, signal, redirect: 'manual' });
      const body = readsBody ? await beginningOf(response) : '';
      // Most callers need only status and headers, so an error while discarding the body is ignored.
      await response.body?.cancel().catch(() => undefined);
      return { status: response.status, headers: response.headers, body };
    } catch (error) {
      const { wasSent } = call;
      return signal.aborted
        ? { kind: 'timeout', wasSent }
        : { kind: 'connection', code: connectionCode(error), wasSent };
    }
  });
}

async function beginningOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_BODY_BYTES) break;
    }
  } catch {
    // The status has arrived, so a body that breaks off is no failure of the request.
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_BODY_BYTES);
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
