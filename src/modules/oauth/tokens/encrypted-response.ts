import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { formatScope, parseScope } from '../../../platform/access/scopes.js';
import { pooledRandomBytes } from '../../../platform/secrets.js';
import type { IssuedTokens } from './token-issuer.js';

const CIPHER = 'aes-256-gcm';
/** HKDF info. Part of the key: another text makes stored responses unreadable. */
const KEY_INFO = 'answer to a refresh token';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Access token, refresh token, expiry of the access token (Unix time in milliseconds), scope. */
type Fields = [string, string, number, string];

/**
 * Encrypts the response to a refresh request. The key derives from the refresh token, which the server stores only as a hash.
 * @returns base64url of IV, tag and ciphertext: about 350 characters
 */
export function encryptResponse(token: string, response: IssuedTokens): string {
  const { accessToken, refreshToken, expiresAt, scopes } = response;
  const fields: Fields = [accessToken, refreshToken, expiresAt.getTime(), formatScope(scopes)];
  const iv = pooledRandomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(token), iv, { authTagLength: TAG_BYTES });
  const encrypted = Buffer.concat([cipher.update(JSON.stringify(fields)), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64url');
}

/** Returns null if `encrypted` belongs to another token or was changed. */
export function decryptResponse(token: string, encrypted: string): IssuedTokens | null {
  const bytes = Buffer.from(encrypted, 'base64url');
  const iv = bytes.subarray(0, IV_BYTES);
  const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv(CIPHER, keyOf(token), iv, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(tag);
    const decrypted = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
    const text = Buffer.concat([decrypted, decipher.final()]).toString('utf8');
    const [accessToken, refreshToken, expiry, scope] = JSON.parse(text) as Fields;
    return { accessToken, refreshToken, expiresAt: new Date(expiry), scopes: parseScope(scope) };
  } catch {
    return null;
  }
}

/** HKDF-SHA-256 (RFC 5869), without a salt: the token has 256 random bits. */
function keyOf(token: string): Buffer {
  return Buffer.from(hkdfSync('sha256', token, '', KEY_INFO, KEY_BYTES));
}
