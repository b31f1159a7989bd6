import { InvalidRequest } from '../../oauth.errors.js';
import type { AuthorizeCheck } from '../authorization-request.js';

const S256_CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** A public app must send an S256 challenge; whoever sends one must send a good one (RFC 7636 §4.2-4.4, RFC 9700 §2.1.1). */
export const checkPkce: AuthorizeCheck = ({ app, parameters }) => {
  const challenge = parameters.get('code_challenge');
  const method = parameters.get('code_challenge_method');
  if (challenge === undefined) {
    if (app.kind === 'public') throw new InvalidRequest('code_challenge is required for this app.');
    if (method !== undefined)
      throw new InvalidRequest('code_challenge_method needs a code_challenge.');
    return;
  }
  if (method !== 'S256') throw new InvalidRequest('code_challenge_method must be S256.');
  if (!S256_CHALLENGE.test(challenge))
    throw new InvalidRequest('code_challenge must be 43 base64url characters.');
};
