import { canonicalScopes, splitScope } from '../../../common/scopes.js';
import { OAuthError } from '../oauth.errors.js';
import type {
  AuthorizationRequest,
  AuthorizeCheck,
  PageCheck,
  ProvenRequest,
  UncheckedRequest,
} from './authorization-request.js';
import { AuthorizationRefused } from './authorization-response.js';
import { checkClient } from './checks/client.check.js';
import { checkDuplicates } from './checks/duplicates.check.js';
import { checkExtensions } from './checks/extensions.check.js';
import { checkPkce } from './checks/pkce.check.js';
import { checkPrompt, signInPromptOf } from './checks/prompt.check.js';
import { checkRedirectUri } from './checks/redirect-uri.check.js';
import { checkResponseType } from './checks/response-type.check.js';
import { checkScope } from './checks/scope.check.js';
import { checkState, checkStateLength } from './checks/state.check.js';

/** Until these hold there is nobody to redirect to, or nothing that could be given back: a failure is a page. */
const pageChecks: readonly PageCheck[] = [checkClient, checkRedirectUri, checkStateLength];

/** From here on failures are redirected to the app, in this order. */
const redirectedChecks: readonly AuthorizeCheck[] = [
  checkDuplicates,
  checkResponseType,
  checkExtensions,
  checkState,
  checkScope,
  checkPkce,
  checkPrompt,
];

/**
 * Checks an authorization request (RFC 6749 §4.1.1).
 * @throws PageError before client and redirect are proven; AuthorizationRefused after
 */
export function checkAuthorizationRequest(unchecked: UncheckedRequest): AuthorizationRequest {
  const { app, parameters } = unchecked;
  for (const check of pageChecks) check(unchecked);
  const redirectUri = parameters.get('redirect_uri');
  if (!app || redirectUri === undefined)
    throw new Error('A request without client or redirect passed the page checks.');
  runRedirected({ app, redirectUri, parameters });
  return {
    app,
    redirectUri,
    scopes: canonicalScopes(splitScope(parameters.require('scope'))),
    state: parameters.require('state'),
    codeChallenge: parameters.get('code_challenge') ?? null,
    signInPrompt: signInPromptOf(parameters),
  };
}

function runRedirected(proven: ProvenRequest): void {
  const { redirectUri, parameters } = proven;
  try {
    for (const check of redirectedChecks) check(proven);
  } catch (error) {
    if (error instanceof OAuthError)
      throw new AuthorizationRefused(redirectUri, parameters.get('state'), error);
    throw error;
  }
}
