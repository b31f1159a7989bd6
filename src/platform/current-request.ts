import { AsyncLocalStorage } from 'node:async_hooks';
import type { FieldError } from './errors.js';

/** The HTTP request that the running code serves, as far as code is concerned that does not see the request itself. */
export interface CurrentRequest {
  requestId: string;
  /** IP address of the caller; null when a proxy tells none. */
  readonly address: string | null;
  /** What is wrong with its headers, to be told together with what is wrong with its body. */
  violations: FieldError[];
}

const storage = new AsyncLocalStorage<CurrentRequest>();

/** Runs `work` and everything that it starts as part of `request`. */
export function duringRequest(request: CurrentRequest, work: () => void): void {
  storage.run(request, work);
}

/** The request that is being served, or undefined for a job, a command or the service's own start. */
export function currentRequest(): CurrentRequest | undefined {
  return storage.getStore();
}
