import { AsyncLocalStorage } from 'node:async_hooks';

/** The HTTP request that the running code serves, for what is written down about it. */
export interface CurrentRequest {
  requestId: string;
  /** IP address of the caller; null when a proxy tells none. */
  address: string | null;
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
