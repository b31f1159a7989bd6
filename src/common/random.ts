import { randomBytes } from 'node:crypto';

const POOL_BYTES = 4096;

/** Asking the system for few bytes costs more than what they are for: it is asked for many, and each is given out once. */
let pool = Buffer.alloc(0);

/**
 * So many random bytes, fit for credentials, which their owner may change.
 * @throws RangeError when `count` is more than 4096
 */
export function random(count: number): Buffer {
  if (count > POOL_BYTES) throw new RangeError(`${count} random bytes are too many.`);
  if (pool.length < count) pool = randomBytes(POOL_BYTES);
  const bytes = pool.subarray(0, count);
  pool = pool.subarray(count);
  return bytes;
}
