import { AsyncLocalStorage } from 'node:async_hooks';

interface Limited {
  /** Waits for the database that go on, and since when, as `performance.now()` has it. */
  waits: number;
  since: number;
  /** How long those before took, in milliseconds. What is waited for at the same time counts once. */
  waitedMs: number;
  isOver: () => boolean;
}

const storage = new AsyncLocalStorage<Limited | undefined>();

/**
 * Runs `work` for somebody who waits: once all that it asked of a server took as long together as one statement may, it asks for
 * no more.
 * @param isOver whether nobody waits any more, so that what it began and left behind takes its time
 */
export function limited<T>(work: () => T, isOver: () => boolean = () => false): T {
  return storage.run({ waits: 0, since: 0, waitedMs: 0, isOver }, work);
}

/**
 * What is to be called later as part of the running work, whoever calls it then. Node's own way to bind a callback keeps what it
 * refers to alive for longer.
 */
export function sameLimit<A extends unknown[]>(callback: (...values: A) => void) {
  const current = storage.getStore();
  return (...values: A): void => storage.run(current, callback, ...values);
}

/** The running work waits for the database from now on, and until it calls what this returns. */
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

/** Whether the running work has waited for the database for more than `longestMs` milliseconds. What is not limited never has. */
export function isOverdue(longestMs: number): boolean {
  const current = storage.getStore();
  if (!current || current.isOver()) return false;
  const { waits, since, waitedMs } = current;
  return waitedMs + (waits > 0 ? performance.now() - since : 0) > longestMs;
}
