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
    `whsec_${'A'.repeat(32)}`,
  ])('accepts no attacker who tries %s', (secret) => {
    expect(isGuessable(secret)).toBe(true);
  });

  it('is false for random secrets in each common encoding', () => {
    const encodings = ['hex', 'base64', 'base64url'] as const;
    const secrets = Array.from({ length: 20_000 }, (_, index) => {
      const bytes = randomBytes(index % 2 === 0 ? 16 : 24);
      return `${index % 3 === 0 ? 'whsec_' : ''}${bytes.toString(encodings[index % 3])}`;
    });
    expect(secrets.filter(isGuessable)).toEqual([]);
  });
});
