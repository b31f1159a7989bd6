import { createHash, timingSafeEqual } from 'node:crypto';
import { OAuthInvalidRequest } from './oauth.errors.js';

const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** @throws OAuthInvalidRequest if the verifier is malformed (RFC 7636 §4.1), missing, or sent although there is no challenge */
export function validateVerifier(challenge: string | null, verifier: string | undefined): void {
  if (challenge === null) {
    if (verifier !== undefined)
      throw new OAuthInvalidRequest(
        'code_verifier was sent, but the authorization request had no code_challenge.',
      );
    return;
  }
  if (verifier === undefined) throw new OAuthInvalidRequest('code_verifier is required.');
  if (!VERIFIER.test(verifier))
    throw new OAuthInvalidRequest('code_verifier must be 43 to 128 unreserved characters.');
}

/** Whether the SHA-256 of the verifier equals the challenge (RFC 7636 §4.6). True if there is no challenge. */
export function verifierMatches(challenge: string | null, verifier: string | undefined): boolean {
  if (challenge === null) return true;
  const computed = createHash('sha256')
    .update(verifier ?? '')
    .digest('base64url');
  return timingSafeEqual(Buffer.from(computed), Buffer.from(challenge));
}
