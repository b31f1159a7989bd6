import type { Scope } from '../../../common/scopes.js';
import type { RegisteredApp } from '../apps/apps.service.js';
import type { Parameters } from '../parameters.js';
import type { Authorization } from './authorization.entity.js';

/** An authorization request while it is checked: the client may turn out to be nobody. */
export interface UncheckedRequest {
  app: RegisteredApp | null;
  parameters: Parameters;
}

/** A request whose client and redirect are proven, so that errors may be told to the client. */
export interface ProvenRequest {
  app: RegisteredApp;
  redirectUri: string;
  parameters: Parameters;
}

/** An authorization request that passed every check (RFC 6749 §4.1.1, RFC 7636 §4.3). */
export interface AuthorizationRequest {
  app: RegisteredApp;
  redirectUri: string;
  scopes: readonly Scope[];
  state: string;
  codeChallenge: string | null;
  /** Of `prompt`, what wants the user to sign in even with a session. */
  signInPrompt: Authorization['signInPrompt'];
}

/** Throws a PageError: there is nobody to redirect to yet. */
export type PageCheck = (request: UncheckedRequest) => void;

/** Throws an OAuthError, which is redirected to the client. */
export type AuthorizeCheck = (request: ProvenRequest) => void;
