import { AsyncLocalStorage } from 'node:async_hooks';

interface Deadline {
  /** Running waits for the database, and the start of the first one (`performance.now()`). */
  waits: number;
  since: number;
  /** Total of earlier waits, in milliseconds. Concurrent waits count once. */
  waitedMs: number;
  isOver: () => boolean;
}

const storage = new AsyncLocalStorage<Deadline | undefined>();

/**
 * Runs `work` with a deadline for the database: once its waits together have taken as long as one statement may take, it sends
 * no more statements.
 * @param isOver whether the caller has its response. After that, there is no deadline for what is left to do.
 */
export function withDeadline<T>(work: () => T, isOver: () => boolean = () => false): T {
  return storage.run({ waits: 0, since: 0, waitedMs: 0, isOver }, work);
}

/**
 * Binds a callback to the deadline of the running work. `AsyncResource.bind` would keep what the callback refers to alive for
 * longer.
 */
export function sameDeadline<A extends unknown[]>(callback: (...values: A) => void) {
  const current = storage.getStore();
  return (...values: A): void => storage.run(current, callback, ...values);
}

/** Starts a wait of the running work for the database. The function that it returns ends it. */
export function beginWaiting(): () => void {
  const current = storage.getStore();
  if (!current) return () => undefined;
  if (current.waits === 0) current.since = performance.now();
  current.waits += 1;
  let isWaiting = true;
  return () => {
    if (!isWaiting) return;
    isWaiting = false;
    current.waits -= 1;
    if (current.waits === 0) current.waitedMs += performance.now() - current.since;
  };
}

/** Whether the running work has waited for the database for more than `longestMs` milliseconds. False without a deadline. */
export function isPastDeadline(longestMs: number): boolean {
  const current = storage.getStore();
  if (!current || current.isOver()) return false;
  const { waits, since, waitedMs } = current;
  return waitedMs + (waits > 0 ? performance.now() - since : 0) > longestMs;
}
