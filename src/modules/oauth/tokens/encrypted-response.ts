import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { random } from '../../../platform/secrets.js';
import { formatScope, parseScope } from '../../../platform/access/scopes.js';
import type { IssuedTokens } from './token-issuer.js';

const CIPHER = 'aes-256-gcm';
const PURPOSE = 'answer to a refresh token';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts an answer under the refresh token or code that it answers, of which only its client holds more than a hash.
 * @returns base64url of IV, tag and ciphertext: about 350 characters
 */
export function encryptResponse(token: string, answer: IssuedTokens): string {
  const { accessToken, refreshToken, expiresAt, scopes } = answer;
  const text = JSON.stringify([
    accessToken,
    refreshToken,
    expiresAt.getTime(),
    formatScope(scopes),
  ]);
  const iv = random(IV_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(token), iv, { authTagLength: TAG_BYTES });
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** The reverse of `encryptResponse`; null when it was sealed for another token, or damaged. */
export function decryptResponse(token: string, sealed: string): IssuedTokens | null {
  const bytes = Buffer.from(sealed, 'base64url');
  const iv = bytes.subarray(0, IV_BYTES);
  const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv(CIPHER, keyOf(token), iv, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(tag);
    const opened = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
    const text = Buffer.concat([opened, decipher.final()]).toString('utf8');
    const [accessToken, refreshToken, end, scope] = JSON.parse(text) as SealedFields;
    return { accessToken, refreshToken, expiresAt: new Date(end), scopes: parseScope(scope) };
  } catch {
    return null;
  }
}

/** Access token, refresh token, end of the access token in milliseconds since 1970, scope. */
type SealedFields = [string, string, number, string];

/** HKDF-SHA-256 (RFC 5869): the token holds 256 random bits, so no salt is needed. */
function keyOf(token: string): Buffer {
  return Buffer.from(hkdfSync('sha256', token, '', PURPOSE, KEY_BYTES));
}
