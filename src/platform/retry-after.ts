import { DAY, SECOND } from './clock.js';

/**
 * HTTP libraries that wait with a timer of signed 32-bit milliseconds, as in Node.js, repeat a request at once if `Retry-After` exceeds
 * 24 days. A client that repeats too early only gets the same error.
 */
export const MAX_RETRY_AFTER_SECONDS = (7 * DAY) / SECOND;

/** The header `Retry-After`: the seconds, but at most a week. The text of an error states the whole time. */
export function retryAfter(seconds: number): { 'Retry-After': string } {
  return { 'Retry-After': String(Math.min(seconds, MAX_RETRY_AFTER_SECONDS)) };
}
