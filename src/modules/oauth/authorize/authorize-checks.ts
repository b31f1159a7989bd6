import { canonicalScopes, type Scope, splitScope } from '../../../platform/access/scopes.js';
import type { RegisteredApp } from '../clients/apps.service.js';
import { AuthorizationRefused } from '../protocol/authorization-response.js';
import {
  InteractionRequired,
  InvalidRequest,
  InvalidScope,
  OAuthError,
  RequestNotSupported,
  UnsupportedResponseType,
} from '../protocol/oauth.errors.js';
import { stateTooLong, unknownApp, wrongRedirectUri } from '../protocol/page-error.js';
import type { Parameters } from '../protocol/parameters.js';
import { redirectUriMatches } from '../protocol/redirect-uri.js';
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

/** `client_id` names an enabled app; sent twice it names none (RFC 6749 §4.1.2.1). */
export const checkClient: PageCheck = ({ app }) => {
  if (!app?.enabled) throw unknownApp();
};

/** `redirect_uri` is sent, and is one that is registered for the app (source document, section 4.1; RFC 9700 §4.1.3). */
export const checkRedirectUri: PageCheck = ({ app, parameters }) => {
  const requested = parameters.get('redirect_uri');
  const anyLoopbackPort = app?.kind === 'public';
  const registered = app?.redirectUris ?? [];
  if (
    requested === undefined ||
    !registered.some((uri) => redirectUriMatches(uri, requested, anyLoopbackPort))
  ) {
    throw wrongRedirectUri();
  }
};

const MOST_BYTES = 4096;

/** `state` is short enough to be given back, whatever else is wrong: every redirect would have to carry it. */
export const checkStateLength: PageCheck = ({ parameters }) => {
  if (Buffer.byteLength(parameters.get('state') ?? '') > MOST_BYTES) throw stateTooLong();
};

/** `state` is sent (source document, section 4.1). */
export const checkState: AuthorizeCheck = ({ parameters }) => {
  if (parameters.get('state') === undefined) throw new InvalidRequest('state is required.');
};

/** No parameter of the protocol is sent twice (RFC 6749 §3.1). */
export const checkDuplicates: AuthorizeCheck = ({ parameters }) => {
  const [repeated] = parameters.repeated().filter((name) => PARAMETERS.has(name));
  if (repeated !== undefined) throw new InvalidRequest(`${repeated} must be sent once.`);
};

const PARAMETERS: ReadonlySet<string> = new Set([
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

/** `response_type` is `code` (RFC 6749 §4.1.1). */
export const checkResponseType: AuthorizeCheck = ({ parameters }) => {
  if (parameters.require('response_type') !== 'code') throw new UnsupportedResponseType();
};

/**
 * Extensions that change what the request or its answer means are refused rather than ignored, since an app that uses one
 * counts on it: another `response_mode` than `query`, and request objects (RFC 9101; OpenID Connect Core §3.1.2.6).
 */
export const checkExtensions: AuthorizeCheck = ({ parameters }) => {
  const mode = parameters.get('response_mode');
  if (mode !== undefined && mode !== 'query')
    throw new InvalidRequest('response_mode may only be query.');
  for (const name of ['request', 'request_uri'] as const)
    if (parameters.get(name) !== undefined) throw new RequestNotSupported(name);
};

/** `scope` is sent (source document, section 4.1) and asks for nothing that the app is not registered for (RFC 6749 §3.3). */
export const checkScope: AuthorizeCheck = ({ app, parameters }) => {
  const requested = splitScope(parameters.get('scope') ?? '');
  if (requested.length === 0) throw new InvalidScope('scope is required.');
  const allowed: readonly string[] = app.scopes;
  if (!requested.every((scope) => allowed.includes(scope))) {
    throw new InvalidScope(
      `scope may hold only what the app is registered for: ${allowed.join(' ')}.`,
    );
  }
};

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

/** Values of `prompt` that are understood (OpenID Connect Core §3.1.2.1, by analogy). */
export const PROMPTS: readonly string[] = ['none', 'login', 'consent', 'select_account'];

/** `prompt` holds known values, and not `none`: the user always decides, so nothing can be answered without asking. */
export const checkPrompt: AuthorizeCheck = ({ parameters }) => {
  const prompts = promptsOf(parameters);
  if (prompts.includes('none')) {
    if (prompts.length > 1) throw new InvalidRequest('prompt may not hold none and more.');
    throw new InteractionRequired();
  }
  if (!prompts.every((prompt) => PROMPTS.includes(prompt)))
    throw new InvalidRequest(`prompt may hold only: ${PROMPTS.join(' ')}.`);
};

/** What asks the user to sign in even with a session: again, or as somebody else. */
export function signInPromptOf(parameters: Parameters): AuthorizationRequest['signInPrompt'] {
  const prompts = promptsOf(parameters);
  return (['login', 'select_account'] as const).find((prompt) => prompts.includes(prompt)) ?? null;
}

function promptsOf(parameters: Parameters): string[] {
  return (parameters.get('prompt') ?? '').split(' ').filter((prompt) => prompt !== '');
}

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
