import { AsyncLocalStorage } from 'node:async_hooks';
import type { FieldError } from './errors.js';

/**
 * The state of an HTTP request: `request.context` in guards and filters, `currentRequest()` elsewhere. Layers above declare their
 * own members where they set them.
 */
export interface RequestContext {
  /** Names the request in error bodies, logs and the call log. */
  readonly requestId: string;
  readonly receivedAt: Date;
  /** IP address of the client; null when a proxy does not report it. Never from a header that a client can set. */
  readonly address: string | null;
  /** Problems with its headers, reported together with those of its body. */
  readonly violations: FieldError[];
  /** The app, once it is known. */
  clientId?: string;
  /** The code of the error in its response, set by the filters. */
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
  /** The start of its time for the database (`performance.now()`). */
  startedAt: number;
  readonly isFinished: () => boolean;
}

const storage = new AsyncLocalStorage<Work | undefined>();

/**
 * Runs `work` and everything that it starts as part of a request.
 * @param isFinished whether the response is sent. After that, there is no deadline for the rest of the work.
 */
export function duringRequest(
  request: RequestContext,
  work: () => void,
  isFinished = (): boolean => false,
): void {
  storage.run({ request, startedAt: performance.now(), isFinished }, work);
}

/** The request that is served; undefined in jobs, commands, batches and the start of the service. */
export function currentRequest(): RequestContext | undefined {
  return storage.getStore()?.request;
}

/**
 * Runs `work` with a deadline of its own, and its time does not count for the request: in a batch for several requests, again after
 * a failed batch, or for a record that the response does not depend on.
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

/** Starts the time of the current request anew: its body has arrived and it has its permit. */
export function restartDeadline(): void {
  const current = storage.getStore();
  if (current) current.startedAt = performance.now();
}

/**
 * Whether the running work began more than `timeoutMs` milliseconds ago, so that it must send no more statements. False without a
 * deadline, in jobs and commands.
 */
export function isPastDeadline(timeoutMs: number): boolean {
  const current = storage.getStore();
  return (
    current !== undefined &&
    performance.now() - current.startedAt > timeoutMs &&
    !current.isFinished()
  );
}

/** Binds a callback to the running work. `AsyncResource.bind` would keep what the callback refers to alive for longer. */
export function bindContext<A extends unknown[]>(callback: (...values: A) => void) {
  const current = storage.getStore();
  return (...values: A): void => storage.run(current, callback, ...values);
}
