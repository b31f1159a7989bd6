import { NoResponseError } from './errors.js';
import type { ErrorDetails } from './errors.js';
import type { CallOptions, Settings } from './settings.js';

export interface HttpRequest {
  method: string;
  /** Path and query. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface HttpResponse {
  status: number;
  headers: Headers;
  /** Undefined if the body is not a JSON object. */
  body: Record<string, unknown> | undefined;
}

const TIMEOUT_MS = 25_000;
/** A longer timer would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Sends a request once.
 * @throws NoResponseError; TypeError if the issuer or a header is invalid; the reason of `signal` if the caller aborted the call
 */
export async function sendOnce(
  settings: Settings,
  { path, ...request }: HttpRequest,
  { signal, timeoutMs = settings.timeoutMs ?? TIMEOUT_MS }: CallOptions,
): Promise<HttpResponse> {
  signal?.throwIfAborted();
  // Outside of the try block: an invalid issuer or header is no failure of the network.
  const url = new URL(path, settings.issuer);
  const headers = new Headers(request.headers);
  const attempt = new AbortController();
  const abort = (): void => attempt.abort();
  signal?.addEventListener('abort', abort);
  const timer = setTimeout(abort, Math.min(timeoutMs, MAX_TIMER_MS));
  const send = settings.fetch ?? globalThis.fetch;
  let response: Response;
  let text: string;
  try {
    // The service never redirects these requests, and no other server may get the credentials.
    const redirect = 'manual' as const;
    response = await send(url, { ...request, headers, redirect, signal: attempt.signal });
    text = await response.text();
  } catch (cause) {
    signal?.throwIfAborted();
    const why = attempt.signal.aborted ? `within ${timeoutMs} ms` : 'because the network failed';
    throw new NoResponseError(`${request.method} ${path} got no response ${why}.`, { cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
  void report(settings, response);
  return { status: response.status, headers: response.headers, body: jsonObject(text) };
}

/** Calls `onResponse`. Its error must not lose a response, which may contain new tokens. */
async function report({ onResponse }: Settings, { status, headers, url }: Response): Promise<void> {
  try {
    await onResponse?.({ status, headers, url });
  } catch (error) {
    // oxlint-disable-next-line no-console -- The client has no other way to report it.
    console.error(error);
  }
}

function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The parts of an error response that OAuth and the API have in common. */
export function errorDetails({ status, headers, body = {} }: HttpResponse): ErrorDetails {
  const { error, error_description: description } = body;
  return {
    // A proxy in front of the service sends errors without a code.
    code: typeof error === 'string' ? error : 'unknown_error',
    description: typeof description === 'string' ? description : `The response was ${status}.`,
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfter: secondsUntil(headers.get('retry-after')),
  };
}

/** The value of `Retry-After` in seconds: a number or a date (RFC 9110 §10.2.3). Undefined if it is neither. */
function secondsUntil(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined;
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter);
  // `Date.parse` also accepts numbers such as 1.5.
  if (!/[a-z]/i.test(retryAfter)) return undefined;
  const seconds = (Date.parse(retryAfter) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
