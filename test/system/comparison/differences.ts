import { SCOPES } from '../../../src/platform/access/scopes.js';
import type { Difference, Outcome } from './outcome.js';

/** An intended difference between our server and the reference (`oidc-provider`), with the section that requires or allows it. */
export interface KnownDifference extends Difference {
  why: string;
}

const ASKS_USER: Outcome = { asksUser: true };
const JSON_ERROR = ['error', 'error_description'];
const EVERY_SCOPE = SCOPES.join(' ');

/** A redirect with an error, usually to `garden`. The other server asks the user instead. */
function errorRedirect(error: string, changed: Outcome = {}): Outcome {
  return {
    status: 303,
    to: 'https://garden.example/callback',
    in: 'query',
    code: false,
    error,
    state: 'af0ifjsldkj',
    issuer: 'its own',
    others: [],
    ...changed,
  };
}

/** A response with new tokens. The other server returns an error instead. */
function tokenResponse(scope = EVERY_SCOPE): Outcome {
  const members = ['access_token', 'expires_in', 'refresh_token', 'scope', 'token_type'];
  return { status: 200, scope, tokenType: 'Bearer', members };
}

/** A JSON error. The other server returns tokens, or the state of a token, instead. */
function errorResponse(error: string, status = 400): Outcome {
  return { status, error, members: JSON_ERROR };
}

/** The same difference in several cases. */
function inCases(
  names: readonly string[],
  difference: KnownDifference,
): Record<string, KnownDifference> {
  return Object.fromEntries(names.map((name) => [name, difference]));
}

const metadata: Record<string, KnownDifference> = {
  ...inCases(['metadata: the document', 'metadata: another host name'], {
    ours: { scopes: [...SCOPES, 'offline_access'].toSorted() },
    theirs: { scopes: [...SCOPES, 'openid'].toSorted() },
    why: 'The reference is an OpenID provider and cannot omit openid; our server lists its own scopes, and offline_access, which it ignores (RFC 8414 §2).',
  }),
  'metadata: the method POST': {
    ours: {
      status: 405,
      type: 'application/json',
      error: 'method_not_allowed',
      members: ['doc_url', 'error', 'error_description', 'request_id'],
      noStore: true,
    },
    theirs: { status: 404, type: 'text/plain', noStore: false },
    why: 'The path exists but does not support the method, which is 405 (RFC 9110 §15.5.6); the reference has no route for it.',
  },
};

const authorize: Record<string, KnownDifference> = {
  ...inCases(['authorize: response_type token', 'authorize: response_type code token'], {
    ours: { in: 'query' },
    theirs: { in: 'fragment' },
    why: 'An unsupported type is reported in the query (RFC 6749 §3.1.1, §4.1.2.1); fragments belong to the implicit grant, which RFC 9700 §2.1.2 discourages.',
  }),
  'authorize: nonce': {
    ours: ASKS_USER,
    theirs: errorRedirect('invalid_request'),
    why: 'Parameters of OpenID Connect are unrecognized here and must be ignored (RFC 6749 §3.1).',
  },
  ...inCases(['authorize: state missing', 'authorize: a state in array syntax only'], {
    ours: errorRedirect('invalid_request', { state: null }),
    theirs: ASKS_USER,
    why: 'RFC 6749 §4.1.1 recommends state; section 4.1 of the product requirements requires it.',
  }),
  'authorize: state of 4,097 characters': {
    ours: { status: 400, type: 'text/html', challenge: null },
    theirs: ASKS_USER,
    why: 'The state must be returned unchanged (RFC 6749 §4.1.2), but browsers and apps cut long addresses. Our server shows a page before the sign-in, since the app could not match an error without this state.',
  },
  ...inCases(['authorize: scope unknown', 'authorize: scope in upper case'], {
    ours: errorRedirect('invalid_scope'),
    theirs: ASKS_USER,
    why: 'RFC 6749 §3.3 allows a server to ignore unknown scopes or to reject them (§4.1.2.1); developers notice a typo earlier if it is rejected.',
  }),
  ...inCases(['authorize: scope missing', 'authorize: scope empty'], {
    ours: errorRedirect('invalid_scope'),
    theirs: ASKS_USER,
    why: 'RFC 6749 §3.3 requires a default scope or an error; section 4.1 of the product requirements requires scope.',
  }),
  'authorize: scope not registered for the app': {
    ours: { others: [] },
    theirs: { others: ['scope'] },
    why: 'The reference adds the rejected scope; RFC 6749 §4.1.2.1 has no such parameter.',
  },
  'authorize: code_challenge of 44 characters': {
    ours: errorRedirect('invalid_request', { to: 'http://127.0.0.1/callback' }),
    theirs: ASKS_USER,
    why: 'A SHA-256 is 43 characters of base64url (RFC 7636 §4.2), so no verifier can match. Our server rejects the challenge immediately.',
  },
  'authorize: prompt none': {
    ours: { error: 'interaction_required' },
    theirs: { error: 'login_required' },
    why: 'A sign-in is not sufficient, since the consent page is always shown (OpenID Connect Core §3.1.2.6, by analogy: RFC 6749 has no prompt).',
  },
  ...inCases(['authorize: the method POST', 'authorize: the method PUT'], {
    ours: {
      status: 405,
      type: 'application/json',
      error: 'invalid_request',
      members: JSON_ERROR,
      noStore: true,
    },
    theirs: { status: 404, type: 'text/plain', noStore: false },
    why: 'Only GET is required (RFC 6749 §3.1); our server distinguishes a wrong method from a wrong address (RFC 9110 §15.5.6).',
  }),
};

const UNAUTHENTICATED =
  'A request without client authentication is an invalid_client (RFC 6749 §5.2) and 401, the status for missing credentials (RFC 9110 §15.5.2); the reference treats it as malformed.';

const clients: Record<string, KnownDifference> = {
  ...inCases(
    [
      'client: no credentials',
      'client: a secret without an app',
      'token: the parameters in the query',
      'introspect: no credentials',
    ],
    {
      ours: { status: 401, error: 'invalid_client' },
      theirs: { status: 400, error: 'invalid_request' },
      why: UNAUTHENTICATED,
    },
  ),
  'revoke: no credentials': {
    ours: { status: 401, error: 'invalid_client', noStore: true },
    theirs: { status: 400, error: 'invalid_request', noStore: false },
    why: UNAUTHENTICATED,
  },
  'client: Basic and the same secret in the body': {
    ours: tokenResponse(),
    theirs: errorResponse('invalid_request'),
    why: 'RFC 6749 §2.3 forbids clients to use two methods at once, but some libraries send the same credentials twice.',
  },
  'client: a public app by Basic with an empty password': {
    ours: tokenResponse('profile.read posts.read'),
    theirs: errorResponse('invalid_request'),
    why: 'An empty secret may be left out (RFC 6749 §2.3.1), and some client libraries identify a public app in this way.',
  },
  ...inCases(
    [
      'client: a confidential app with an empty password in Basic',
      'client: Authorization with no credentials',
      'client: Authorization with invalid base64',
      'client: Authorization with base64 without a colon',
      'client: Authorization with only a colon',
      'client: Authorization with an empty id',
      'client: Authorization with control characters',
      'client: Authorization with a broken encoding',
      'client: Authorization with another scheme',
    ],
    {
      ours: { status: 401, error: 'invalid_client', challenge: 'Basic' },
      theirs: { status: 400, error: 'invalid_request', challenge: null },
      why: 'A failed attempt with the Authorization header requires 401 and a challenge (RFC 6749 §5.2).',
    },
  ),
};

const token: Record<string, KnownDifference> = {
  ...inCases(['token: the method GET', 'token: the method PUT'], {
    ours: {
      status: 405,
      type: 'application/json',
      error: 'invalid_request',
      members: JSON_ERROR,
      noStore: true,
    },
    theirs: { status: 404, type: 'text/plain', noStore: false },
    why: 'Only POST is allowed (RFC 6749 §3.2); our server distinguishes a wrong method from a wrong address (RFC 9110 §15.5.6).',
  }),
  ...inCases(
    [
      'token: verifier missing',
      'token: verifier empty',
      'token: verifier missing, of a confidential app',
      'token: verifier without a challenge',
    ],
    {
      ours: { error: 'invalid_request' },
      theirs: { error: 'invalid_grant' },
      why: 'RFC 7636 §4.6 requires invalid_grant for verifiers that do not match; a missing or superfluous verifier is a malformed request (RFC 6749 §5.2), which does not consume the code.',
    },
  ),
  'token: code after an exchange with another verifier': {
    ours: errorResponse('invalid_grant'),
    theirs: tokenResponse('profile.read posts.read'),
    why: 'The holder of a stolen code gets one guess at its verifier (RFC 6749 §10.10); the reference allows more.',
  },
  'token: refresh after the code was sent twice': {
    ours: tokenResponse(),
    theirs: errorResponse('invalid_grant'),
    why: 'Our server treats a repetition within 10 seconds as a retry: it rejects the code and keeps the tokens. Later repetitions revoke them, which RFC 6749 §4.1.2 recommends (SHOULD).',
  },
};

const refresh: Record<string, KnownDifference> = {
  'refresh: scope wider': {
    ours: { members: JSON_ERROR },
    theirs: { scope: 'posts.write', members: [...JSON_ERROR, 'scope'] },
    why: 'The reference repeats the rejected scope; RFC 6749 §5.2 has no such member.',
  },
  'refresh: scope unknown': {
    ours: { members: JSON_ERROR },
    theirs: { scope: 'posts.delete', members: [...JSON_ERROR, 'scope'] },
    why: 'The reference repeats the rejected scope; RFC 6749 §5.2 has no such member.',
  },
  ...inCases(
    ['refresh: a used token at once', 'refresh: the successor of a token that was sent twice'],
    {
      ours: tokenResponse(),
      theirs: errorResponse('invalid_grant'),
      why: 'Our server repeats its response while the successor is unused: for two seconds to parallel workers, and later once, within 30 seconds, for a lost response. There is still only one chain of tokens, and late repeats of two generations in a row revoke the grant, so reuse is still detected (RFC 9700 §4.14.2).',
    },
  ),
};

const UNCACHED =
  'Responses to requests with credentials must not be cached (RFC 6749 §5.1); RFC 7009 has no rule.';

const revocation: Record<string, KnownDifference> = {
  ...inCases(
    [
      'revoke: a refresh token',
      'revoke: an access token',
      'revoke: an unknown token',
      'revoke: an unknown hint',
      'revoke: the same token in two successive requests',
    ],
    {
      ours: { type: 'application/json', members: [], noStore: true },
      theirs: { type: 'text/plain', noStore: false },
      why: 'Clients ignore the body (RFC 7009 §2.2); ours is {}, since some clients parse it anyway. It must not be cached.',
    },
  ),
  ...inCases(
    [
      'revoke: token missing',
      'revoke: token empty',
      'revoke: token twice',
      'revoke: a wrong secret',
      'revoke: a wrong secret in Basic',
      'revoke: no secret',
      'revoke: the token of another app',
      'revoke: the token of another app, by a public app',
      'revoke: a JSON body',
    ],
    { ours: { noStore: true }, theirs: { noStore: false }, why: UNCACHED },
  ),
  'revoke: a refresh after the revocation of the access token': {
    ours: tokenResponse(),
    theirs: errorResponse('invalid_grant'),
    why: 'A server may revoke the refresh token together with the access token (RFC 7009 §2.1); our server does not.',
  },
};

const introspection: Record<string, KnownDifference> = {
  'introspect: by a public app': {
    ours: errorResponse('invalid_client', 401),
    theirs: {
      status: 200,
      active: true,
      scope: 'profile.read posts.read',
      tokenType: 'Bearer',
      members: ['active', 'client_id', 'exp', 'iat', 'iss', 'scope', 'sub', 'token_type'],
    },
    why: 'The endpoint must require authorization (RFC 7662 §2.1), and a public app has none.',
  },
  'introspect: by a public app with an empty password in Basic': {
    ours: { status: 401, error: 'invalid_client', challenge: 'Basic' },
    theirs: { status: 400, error: 'invalid_request', challenge: null },
    why: 'A public app has no authorization for this endpoint (RFC 7662 §2.1), and a failed attempt with the Authorization header requires a challenge (RFC 7662 §2.3, RFC 6749 §5.2).',
  },
  ...inCases(['introspect: the method GET', 'revoke: the method GET'], {
    ours: {
      status: 405,
      type: 'application/json',
      error: 'invalid_request',
      members: JSON_ERROR,
      noStore: true,
    },
    theirs: { status: 404, type: 'text/plain', noStore: false },
    why: 'Only POST is defined (RFC 7662 §2.1, RFC 7009 §2.1); our server distinguishes a wrong method from a wrong address (RFC 9110 §15.5.6).',
  }),
};

/** Intended differences between our server and the reference, by the name of the case. */
export const differences: Readonly<Record<string, KnownDifference>> = {
  ...metadata,
  ...authorize,
  ...clients,
  ...token,
  ...refresh,
  ...revocation,
  ...introspection,
};
