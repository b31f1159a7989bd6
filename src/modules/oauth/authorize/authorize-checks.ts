import { PageError } from '../../../pages/page-errors.js';
import {
  canonicalScopes,
  isOnlyOfflineAccess,
  OFFLINE_ACCESS,
  type Scope,
  splitScope,
} from '../../../platform/access/scopes.js';
import type { RegisteredApp } from '../clients/apps.service.js';
import { AuthorizationError } from '../protocol/authorization-response.js';
import { InvalidScope, OAuthError, OAuthInvalidRequest } from '../protocol/oauth.errors.js';
import type { Parameters } from '../protocol/parameters.js';
import { redirectUriMatches } from '../protocol/redirect-uri.js';
import type { Authorization } from './authorization.entity.js';

interface UncheckedRequest {
  app: RegisteredApp | null;
  parameters: Parameters;
}

/** A request with a valid client and redirect URI, so that errors can be redirected to the client. */
interface RedirectableRequest {
  app: RegisteredApp;
  redirectUri: string;
  parameters: Parameters;
}

/** An authorization request that passed every check. */
export interface AuthorizationRequest extends Pick<
  Authorization,
  'redirectUri' | 'state' | 'codeChallenge' | 'prompt'
> {
  app: RegisteredApp;
  scopes: readonly Scope[];
}

/** Throws a PageError. */
type PageCheck = (request: UncheckedRequest) => void;

/** Throws an OAuthError, which is redirected to the client. */
type RedirectedCheck = (request: RedirectableRequest) => void;

/**
 * Checks an authorization request (RFC 6749 §4.1.1, RFC 7636 §4.3).
 * @throws PageError when the client, the redirect URI or the length of `state` is invalid; otherwise AuthorizationError
 */
export function checkAuthorizationRequest(unchecked: UncheckedRequest): AuthorizationRequest {
  for (const check of [checkClient, checkRedirectUri, checkStateLength]) check(unchecked);
  const { parameters } = unchecked;
  // Not null: `checkClient` has passed.
  const app = unchecked.app as RegisteredApp;
  const redirectUri = parameters.require('redirect_uri');
  try {
    for (const check of REDIRECTED_CHECKS) check({ app, redirectUri, parameters });
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    throw new AuthorizationError(redirectUri, parameters.get('state'), error);
  }
  const prompts = promptsOf(parameters);
  return {
    app,
    redirectUri,
    scopes: canonicalScopes(splitScope(parameters.require('scope'))),
    state: parameters.require('state'),
    codeChallenge: parameters.get('code_challenge') ?? null,
    prompt: DEMANDING_PROMPTS.find((prompt) => prompts.includes(prompt)) ?? null,
  };
}

/** `client_id` is the id of an enabled app (RFC 6749 §4.1.2.1). */
const checkClient: PageCheck = ({ app }) => {
  if (!app?.enabled) throw new PageError('unknown_app');
};

/** `redirect_uri` is present and registered for the app (product requirements, section 4.1; RFC 9700 §4.1.3). */
const checkRedirectUri: PageCheck = ({ app, parameters }) => {
  const requested = parameters.get('redirect_uri');
  if (!app || requested === undefined || !isRegistered(app, requested))
    throw new PageError('wrong_redirect_uri');
};

/** Whether the app has registered the redirect URI. A public app may use any port of a loopback address (RFC 8252 §7.3). */
export function isRegistered({ kind, redirectUris }: RegisteredApp, redirectUri: string): boolean {
  return redirectUris.some((uri) =>
    redirectUriMatches(uri, redirectUri, { anyLoopbackPort: kind === 'public' }),
  );
}

const MAX_STATE_BYTES = 4096;

/** `state` has at most 4,096 bytes. The error is a page, because a redirect would have to return the `state`. */
const checkStateLength: PageCheck = ({ parameters }) => {
  if (Buffer.byteLength(parameters.get('state') ?? '') > MAX_STATE_BYTES)
    throw new PageError('state_too_long');
};

/**
 * Parameters that may be sent only once. `client_id` and `redirect_uri` are not among them: if one of these two is repeated, it
 * counts as missing, and the checks before `checkDuplicates` fail.
 */
const SINGLE_PARAMETERS: ReadonlySet<string> = new Set([
  'response_type',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'prompt',
  'ui_locales',
  'response_mode',
  'request',
  'request_uri',
]);

/** None of `SINGLE_PARAMETERS` is repeated (RFC 6749 §3.1). Unknown parameters are ignored. */
const checkDuplicates: RedirectedCheck = ({ parameters }) => {
  const repeated = parameters.repeated().find((name) => SINGLE_PARAMETERS.has(name));
  if (repeated !== undefined) throw new OAuthInvalidRequest(`Send ${repeated} only once.`);
};

/** `response_type` is `code` (RFC 6749 §4.1.1). */
const checkResponseType: RedirectedCheck = ({ parameters }) => {
  if (parameters.require('response_type') !== 'code')
    throw new OAuthError('unsupported_response_type', 'response_type must be code.');
};

/**
 * Rejects parameters of unsupported extensions, because an app that sends them relies on them: a `response_mode` other than
 * `query`, and request objects (RFC 9101; OpenID Connect Core §3.1.2.6).
 */
const checkExtensions: RedirectedCheck = ({ parameters }) => {
  if ((parameters.get('response_mode') ?? 'query') !== 'query')
    throw new OAuthInvalidRequest('response_mode must be query.');
  for (const name of ['request', 'request_uri'] as const)
    if (parameters.get(name) !== undefined)
      throw new OAuthError(
        `${name}_not_supported`,
        `${name} is not supported. Send plain parameters.`,
      );
};

/** `state` is present (product requirements, section 4.1). These libraries do not send it by default. */
const checkState: RedirectedCheck = ({ parameters }) => {
  if (parameters.get('state') === undefined)
    throw new OAuthInvalidRequest(
      'state is required: it proves to your app that the response belongs to its own request. ' +
        'openid-client sends the state given to buildAuthorizationUrl, passport-oauth2 with the option state: true, ' +
        'and the MCP SDK if your OAuthClientProvider has the method state.',
    );
};

/** `scope` is present and contains only scopes that the app is registered for, besides `OFFLINE_ACCESS` (RFC 6749 §3.3). */
const checkScope: RedirectedCheck = ({ app, parameters }) => {
  const scope = parameters.get('scope') ?? '';
  if (isOnlyOfflineAccess(scope))
    throw new InvalidScope(
      `${OFFLINE_ACCESS} alone requests no access. Add one or more of ${app.scopes.join(' ')}, separated by spaces.`,
    );
  const requested = splitScope(scope);
  if (requested.length === 0)
    throw new InvalidScope(
      `scope is required: one or more of ${app.scopes.join(' ')}, separated by spaces.`,
    );
  const allowed: readonly string[] = app.scopes;
  if (!requested.every((name) => allowed.includes(name)))
    throw new InvalidScope(
      `scope must contain only scopes that the app is registered for, separated by spaces: ${allowed.join(' ')}.`,
    );
};

const S256_CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** An S256 challenge is required for public apps, and for confidential apps that require PKCE (RFC 7636 §4.2-4.4, RFC 9700 §2.1.1). */
const checkPkce: RedirectedCheck = ({ app, parameters }) => {
  const challenge = parameters.get('code_challenge');
  const method = parameters.get('code_challenge_method');
  if (challenge === undefined) {
    if (app.requiresPkce) throw new OAuthInvalidRequest('code_challenge is required for this app.');
    if (method !== undefined)
      throw new OAuthInvalidRequest('code_challenge_method requires code_challenge.');
    return;
  }
  if (method !== 'S256') throw new OAuthInvalidRequest('code_challenge_method must be S256.');
  if (!S256_CHALLENGE.test(challenge))
    throw new OAuthInvalidRequest('code_challenge must be 43 base64url characters.');
};

/** The known values of `prompt` (OpenID Connect Core §3.1.2.1, by analogy). */
export const PROMPTS: readonly string[] = ['none', 'login', 'consent', 'select_account'];
/** The one that demands the most comes first. */
const DEMANDING_PROMPTS = ['login', 'select_account', 'consent'] as const;

/** Whether the app requires a new sign-in despite a session. */
export function requiresSignIn({ prompt }: Pick<AuthorizationRequest, 'prompt'>): boolean {
  return prompt === 'login' || prompt === 'select_account';
}

/** `prompt` has only known values. Rejects `none`, because the user always decides (OpenID Connect Core §3.1.2.6, by analogy). */
const checkPrompt: RedirectedCheck = ({ parameters }) => {
  const prompts = promptsOf(parameters);
  if (isSilent(parameters)) {
    if (prompts.length > 1)
      throw new OAuthInvalidRequest('prompt=none cannot be combined with other values.');
    throw new OAuthError('interaction_required', 'The user must consent. Omit prompt=none.');
  }
  if (!prompts.every((prompt) => PROMPTS.includes(prompt)))
    throw new OAuthInvalidRequest(`prompt must contain only: ${PROMPTS.join(' ')}.`);
};

/** Whether the request allows no page. Such a request always fails. */
export function isSilent(parameters: Parameters): boolean {
  return promptsOf(parameters).includes('none');
}

function promptsOf(parameters: Parameters): string[] {
  return (parameters.get('prompt') ?? '').split(' ').filter((prompt) => prompt !== '');
}

/** In this order: the error of the first failed check is returned. */
const REDIRECTED_CHECKS: readonly RedirectedCheck[] = [
  checkDuplicates,
  checkResponseType,
  checkExtensions,
  checkState,
  checkScope,
  checkPkce,
  checkPrompt,
];
