import { createHash } from 'node:crypto';
import { OAuthInvalidRequest } from '../protocol/oauth.errors.js';
import { validateVerifier, verifierMatches } from './authorization-code.grant.js';

/** RFC 7636, Appendix B. */
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

describe('PKCE verifier', () => {
  it.each([undefined, '', 'x'.repeat(42), 'x'.repeat(129), `${'x'.repeat(42)}+`, `${VERIFIER}\n`])(
    'O74 rejects the missing or malformed verifier %j (RFC 7636 §4.1)',
    (verifier) => {
      expect(() => validateVerifier(CHALLENGE, verifier)).toThrow(OAuthInvalidRequest);
    },
  );

  it.each(['x'.repeat(43), 'x'.repeat(128), `${'v'.repeat(42)}-._~`, VERIFIER])(
    'O74 accepts the well-formed verifier %j, and does not match its challenge to a similar verifier',
    (verifier) => {
      expect(() => validateVerifier(CHALLENGE, verifier)).not.toThrow();
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      expect(verifierMatches(challenge, verifier)).toBe(true);
      expect(verifierMatches(challenge, `${verifier.slice(0, -1)}0`)).toBe(false);
    },
  );

  it('O75 verifies the example of RFC 7636 Appendix B', () => {
    expect(verifierMatches(CHALLENGE, VERIFIER)).toBe(true);
  });

  it.each([CHALLENGE, undefined, ''])(
    'O75 rejects %j, which is not the verifier of the challenge',
    (verifier) => {
      expect(verifierMatches(CHALLENGE, verifier)).toBe(false);
    },
  );

  it.each([VERIFIER, '', 'x'])('O76 rejects the verifier %j without a challenge', (verifier) => {
    expect(() => validateVerifier(null, verifier)).toThrow(OAuthInvalidRequest);
  });

  it('O76 requires no verifier without a challenge', () => {
    expect(() => validateVerifier(null, undefined)).not.toThrow();
    expect(verifierMatches(null, undefined)).toBe(true);
  });
});
