import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';

const POOL_BYTES = 4096;

/**
 * The unused random bytes of the last system call, which fetches many, because the call costs more than the bytes. Each byte is
 * used once.
 */
let pool = Buffer.alloc(0);

/**
 * Cryptographically random bytes. The caller may overwrite them.
 * @throws RangeError if `size` is more than 4096
 */
export function pooledRandomBytes(size: number): Buffer {
  if (size > POOL_BYTES)
    throw new RangeError(`Cannot return ${size} random bytes; the maximum is ${POOL_BYTES}.`);
  if (pool.length < size) pool = randomBytes(POOL_BYTES);
  const bytes = pool.subarray(0, size);
  pool = pool.subarray(size);
  return bytes;
}

/** Prefixes of client secrets, authorization codes, access tokens and refresh tokens (product requirements, section 2). */
export type SecretPrefix = 'svc_sec' | 'svcac' | 'svcat' | 'svcrt';

const SECRET_BYTES = 32;

/** A new credential: the prefix, an underscore and 32 random bytes as 43 base64url characters (RFC 6749 §10.10). */
export function newSecret(prefix: SecretPrefix): string {
  return `${prefix}_${randomToken()}`;
}

/** 32 random bytes as 43 base64url characters. */
export function randomToken(): string {
  const bytes = pooledRandomBytes(SECRET_BYTES);
  const token = bytes.toString('base64url');
  bytes.fill(0);
  return token;
}

/** Whether `value` has the format of a credential with this prefix. */
export function hasSecretFormat(prefix: SecretPrefix, value: string): boolean {
  return (
    value.startsWith(`${prefix}_`) && /^[A-Za-z0-9_-]{43}$/.test(value.slice(prefix.length + 1))
  );
}

/** SHA-256 in hex, to store and look up credentials of 256 random bits. */
export function sha256(value: string | Buffer): string {
  return hash('sha256', value, 'hex');
}

/** HMAC-SHA-256 in hex, to store one-time passwords: a plain hash of six digits can be reversed. */
export function hmacSha256(key: string, value: string): string {
  return createHmac('sha256', key).update(value, 'utf8').digest('hex');
}

/** Compares two digests of equal length in constant time. */
export function digestsEqual(left: string, right: string): boolean {
  return timingSafeEqual(Buffer.from(left, 'hex'), Buffer.from(right, 'hex'));
}
