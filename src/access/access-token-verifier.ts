import type { Access } from './caller.js';

/** Tells what an access token stands for. The authorization server implements it; the API modules see only this. */
export abstract class AccessTokenVerifier {
  /** @throws InvalidToken when the token is malformed, unknown, expired or revoked, or its app or user is off */
  abstract verify(token: string): Promise<Access>;
}
