import { AsyncLocalStorage } from 'node:async_hooks';
import type { FieldError } from './errors.js';

/**
 * The state of an HTTP request: `request.context` in guards and filters, `currentRequest()` elsewhere. Modules add their own
 * members by declaration merging.
 */
export interface RequestContext {
  /** In responses, logs, the call log and the audit log. */
  readonly requestId: string;
  /** Only in logs; undefined if tracing is off. */
  readonly traceId?: string;
  /** The client's `X-Request-Id`, if it is valid. Only for the access log. */
  clientRequestId?: string;
  readonly receivedAt: Date;
  /** IP address of the client; null if the proxy does not report it. Headers that a client can set are ignored. */
  readonly address: string | null;
  /** Violations in the headers, reported together with those in the body. */
  readonly violations: FieldError[];
  /** The app, once it is authenticated. */
  clientId?: string;
  /** The error code of the response, set by the exception filters. */
  errorCode?: string;
}

declare global {
  namespace Express {
    interface Request {
      context: RequestContext;
    }
  }
}

interface Work {
  readonly request: RequestContext | undefined;
  /** The time from which the time limit for database work counts (`performance.now()`). */
  startedAt: number;
  readonly isFinished: () => boolean;
}

const storage = new AsyncLocalStorage<Work | undefined>();

/**
 * Runs `work`, and all that it starts, as part of a request.
 * @param options.isFinished whether the response is sent; the remaining work has no deadline then
 */
export function duringRequest(
  request: RequestContext,
  work: () => void,
  { isFinished = () => false }: { isFinished?: () => boolean } = {},
): void {
  storage.run({ request, startedAt: performance.now(), isFinished }, work);
}

/** Runs `work` as part of no request: for what a request only happened to start. */
export function outsideOfRequests(work: () => void): void {
  storage.exit(work);
}

/** Undefined at startup, in jobs, in commands, and in batches of several requests. */
export function currentRequest(): RequestContext | undefined {
  return storage.getStore()?.request;
}

/**
 * Runs `work` with its own deadline. The time that it takes does not count towards the deadline of the request. For batches of
 * several requests, retries after a failed batch, checks of a connection, and records that the response does not depend on.
 */
export async function withDeadline<T>(work: () => Promise<T>): Promise<T> {
  const outer = storage.getStore();
  const startedAt = performance.now();
  const { request, isFinished = () => false } = outer ?? {};
  try {
    return await storage.run({ request, startedAt, isFinished }, work);
  } finally {
    if (outer) outer.startedAt += performance.now() - startedAt;
  }
}

/** Restarts the deadline of the current request. Call when the bulkhead admits the request. */
export function restartDeadline(): void {
  const current = storage.getStore();
  if (current) current.startedAt = performance.now();
}

/** Whether the current work began more than `timeoutMs` ago, so that it must send no more statements. False in jobs and commands. */
export function isPastDeadline(timeoutMs: number): boolean {
  const current = storage.getStore();
  return (
    current !== undefined &&
    performance.now() - current.startedAt > timeoutMs &&
    !current.isFinished()
  );
}

/** Binds a callback to the current work. */
export function bindContext<A extends unknown[]>(callback: (...values: A) => void) {
  const current = storage.getStore();
  return (...values: A): void => storage.run(current, callback, ...values);
}
