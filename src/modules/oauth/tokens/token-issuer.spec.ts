import { SCOPES } from '../../../platform/access/scopes.js';
import { newSecret } from '../../../platform/secrets.js';
import { decryptResponse, encryptResponse } from './token-issuer.js';

const TOKEN = newSecret('svcrt');
const RESPONSE = {
  accessToken: newSecret('svcat'),
  refreshToken: newSecret('svcrt'),
  expiresAt: new Date('2026-11-21T10:30:00.123Z'),
  scopes: SCOPES,
};

describe('Encrypted token response', () => {
  it('decrypts with the same token', () => {
    expect(decryptResponse(TOKEN, encryptResponse(TOKEN, RESPONSE))).toEqual(RESPONSE);
  });

  it('returns null for another token', () => {
    const encrypted = encryptResponse(TOKEN, RESPONSE);
    for (const other of [newSecret('svcrt'), TOKEN.toLowerCase(), TOKEN.slice(0, -1), ''])
      expect(decryptResponse(other, encrypted)).toBeNull();
  });

  it('returns null when any byte was changed', () => {
    const encrypted = Buffer.from(encryptResponse(TOKEN, RESPONSE), 'base64url');
    for (const [index, byte] of encrypted.entries()) {
      const changed = Buffer.from(encrypted);
      changed[index] = byte ^ 1;
      expect(decryptResponse(TOKEN, changed.toString('base64url')), `byte ${index}`).toBeNull();
    }
  });

  it('returns null when the encrypted response was truncated', () => {
    const encrypted = encryptResponse(TOKEN, RESPONSE);
    for (let length = 0; length < encrypted.length; length += 1)
      expect(decryptResponse(TOKEN, encrypted.slice(0, length)), `${length} characters`).toBeNull();
  });

  it('fits the column, contains no plain text, and uses a new IV each time', () => {
    const one = encryptResponse(TOKEN, RESPONSE);
    expect(one).toMatch(/^[A-Za-z0-9_-]{1,700}$/);
    expect(Buffer.from(one, 'base64url').toString('latin1')).not.toMatch(/svcat|svcrt|posts/);
    // The first 16 characters encode the IV.
    expect(encryptResponse(TOKEN, RESPONSE).slice(0, 16)).not.toBe(one.slice(0, 16));
  });
});
