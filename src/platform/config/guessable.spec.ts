import { randomBytes } from 'node:crypto';
import { isGuessable } from './guessable.js';

describe('isGuessable', () => {
  it.each([
    'not-secret-for-development-only!',
    'a'.repeat(32),
    'ab'.repeat(16),
    'changeme'.repeat(4),
    'abcdefghijkl'.repeat(3),
    '0123456701234567012345670123456701234567',
    'changeme-changeme-changeme-changeme',
    '01234567890123456789012345678901',
    'please-change-me-please-change-me',
    'abcdefghijklmnopqrstuvwxyz012345',
    `whsec_${Buffer.from('a'.repeat(16)).toString('base64')}`,
    `whsec_${Buffer.from('secret-secret-secret').toString('base64')}`,
    'b'.repeat(16),
    `${'password'.repeat(4)}1`,
    `whsec_${'A'.repeat(32)}`,
  ])('accepts no attacker who tries %s', (secret) => {
    expect(isGuessable(secret)).toBe(true);
  });

  it.each<[string, () => string]>([
    ['16 hexadecimal digits', () => randomBytes(8).toString('hex')],
    ['24 hexadecimal digits', () => randomBytes(12).toString('hex')],
    ['32 hexadecimal digits', () => randomBytes(16).toString('hex')],
    ['16 characters of base64', () => randomBytes(12).toString('base64')],
    ['64 characters of base64url', () => randomBytes(48).toString('base64url')],
    ['32 decimal digits', () => Array.from(randomBytes(32), (byte) => byte % 10).join('')],
    ['whsec_ and base64', () => `whsec_${randomBytes(16).toString('base64')}`],
  ])('is false for random secrets of %s', (_encoding, newSecret) => {
    const secrets = Array.from({ length: 20_000 }, newSecret);
    expect(secrets.filter(isGuessable)).toEqual([]);
  });
});
