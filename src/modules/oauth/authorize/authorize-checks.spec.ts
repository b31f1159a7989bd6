import { parse } from 'node:querystring';
import { SCOPES } from '../../../platform/access/scopes.js';
import type { RegisteredApp } from '../clients/apps.service.js';
import { NO_IDENTITY } from '../clients/registration-values.js';
import { PageError } from '../../../pages/page-errors.js';
import { Parameters } from '../protocol/parameters.js';
import { type AuthorizationRequest, checkAuthorizationRequest } from './authorize-checks.js';
import { AuthorizationError } from '../protocol/authorization-response.js';

/** RFC 7636, Appendix B. */
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const REDIRECT_URI = 'https://garden.example/callback';
/** A byte longer than allowed. */
const LONG_STATE = `${'é'.repeat(2048)}x`;

const APP: RegisteredApp = {
  clientId: 'svc_app_01jdx8m3wze5cr4w0hg3k7n2qp',
  name: 'Garden Share',
  kind: 'confidential',
  scopes: SCOPES,
  redirectUris: [REDIRECT_URI],
  origins: [],
  enabled: true,
  postsHidden: false,
  requiresPkce: false,
  reference: null,
  ...NO_IDENTITY,
  test: false,
  accessTokenSeconds: null,
  createdAt: new Date('2026-11-21T09:30:00.000Z'),
};
const PKCE_APP: RegisteredApp = { ...APP, requiresPkce: true };
const PUBLIC_APP: RegisteredApp = { ...PKCE_APP, kind: 'public' };
const READER: RegisteredApp = { ...APP, scopes: ['profile.read', 'posts.read'] };

type Changes = Record<string, string | undefined>;

const VALID = {
  response_type: 'code',
  client_id: APP.clientId,
  redirect_uri: REDIRECT_URI,
  scope: 'profile.read posts.read',
  state: 'af0ifjsldkj',
};

/** Checks a valid request with these changes. Omits parameters that are undefined. */
function check(changes: Changes, appended = '', app: RegisteredApp | null = APP) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries<string | undefined>({ ...VALID, ...changes }))
    if (value !== undefined) query.append(name, value);
  const parameters = new Parameters(parse(`${query.toString()}${appended}`));
  return checkAuthorizationRequest({ app, parameters });
}

/** The valid request with these changes of its outcome. */
function request(changes: Partial<AuthorizationRequest> = {}): AuthorizationRequest {
  return {
    app: APP,
    redirectUri: REDIRECT_URI,
    scopes: ['profile.read', 'posts.read'],
    state: VALID.state,
    codeChallenge: null,
    prompt: null,
    ...changes,
  };
}

/** The rejection of a valid request with these changes: an error page, or a redirect to the app with an error. */
function rejectionOf(changes: Changes, appended = '', app: RegisteredApp | null = APP) {
  try {
    check(changes, appended, app);
  } catch (rejection) {
    if (rejection instanceof PageError) return { status: rejection.status, page: rejection.code };
    if (!(rejection instanceof AuthorizationError)) throw rejection;
    const { redirectUri, error, state } = rejection;
    return { redirectUri, error: error.code, description: error.message, state };
  }
  throw new Error('The request is valid.');
}

/** An error in a redirect to the app. */
function redirect(error: string, state: string | undefined = VALID.state): object {
  return { redirectUri: REDIRECT_URI, error, state, description: expect.any(String) };
}

const withMethod = (code_challenge_method?: string, code_challenge = CHALLENGE): Changes => ({
  code_challenge,
  code_challenge_method,
});

describe('checkAuthorizationRequest', () => {
  it('O1 accepts a valid request', () => {
    expect(check({})).toEqual(request());
  });

  it.each<[Changes, (RegisteredApp | null)?]>([
    [{}],
    [{}, { ...APP, enabled: false }],
    [{ redirect_uri: undefined }],
    [{ redirect_uri: 'https://evil.example/', response_type: 'token' }],
  ])('O2 shows a page for an unknown or disabled app, before any other error: %j', (wrong, app) => {
    expect(rejectionOf(wrong, '', app ?? null)).toEqual({ status: 400, page: 'unknown_app' });
  });

  it.each<[Changes, string?]>([
    [{ redirect_uri: undefined }],
    [{ redirect_uri: '' }],
    [{}, `&redirect_uri=${encodeURIComponent(REDIRECT_URI)}`],
    [{ redirect_uri: `${REDIRECT_URI}/` }],
    [{ redirect_uri: `${REDIRECT_URI}/`, response_type: 'token' }],
    [{ redirect_uri: `${REDIRECT_URI}/`, scope: undefined }],
  ])(
    'O3 O4 O8 O10 shows a page for another redirect_uri than one registered: %j',
    (wrong, more) => {
      expect(rejectionOf(wrong, more)).toEqual({ status: 400, page: 'wrong_redirect_uri' });
    },
  );

  it('O5 O6 allows any loopback port for a public app only', () => {
    const redirectUris = ['http://127.0.0.1:8080/cb'];
    const changes = { redirect_uri: 'http://127.0.0.1:51004/cb', ...withMethod('S256') };
    expect(check(changes, '', { ...PUBLIC_APP, redirectUris })).toMatchObject({
      redirectUri: changes.redirect_uri,
    });
    expect(rejectionOf(changes, '', { ...APP, redirectUris })).toEqual({
      status: 400,
      page: 'wrong_redirect_uri',
    });
  });

  it.each<Changes>([
    {},
    { response_type: 'token' },
    { scope: undefined },
    withMethod('S256', 'short'),
    { prompt: 'none' },
  ])('O15 shows a page for a state of 4,097 bytes, before the errors of %j', (wrong) => {
    for (const appended of ['', '&scope=again'])
      expect(rejectionOf({ ...wrong, state: LONG_STATE }, appended)).toEqual({
        status: 400,
        page: 'state_too_long',
      });
  });

  it.each<[error: string, changes: Changes, app?: RegisteredApp]>([
    ['invalid_request', { response_type: undefined }],
    ['invalid_request', { response_type: '' }],
    ['unsupported_response_type', { response_type: 'token' }],
    ['unsupported_response_type', { response_type: 'code token' }],
    ['unsupported_response_type', { response_type: 'code id_token' }],
    ['unsupported_response_type', { response_type: 'foo' }],
    ['unsupported_response_type', { response_type: 'CODE' }],
    ['invalid_request', { response_mode: 'fragment' }],
    ['invalid_request', { response_mode: 'form_post' }],
    ['request_not_supported', { request: 'e30.e30.' }],
    ['request_uri_not_supported', { request_uri: 'urn:example:1' }],
    ['invalid_scope', { scope: undefined }],
    ['invalid_scope', { scope: '' }],
    ['invalid_scope', { scope: '   ' }],
    ['invalid_scope', { scope: undefined, 'scope[a]': 'posts.read' }],
    ['invalid_scope', { scope: 'posts.delete' }],
    ['invalid_scope', { scope: 'profile.read posts.delete' }],
    ['invalid_scope', { scope: 'Profile.read' }],
    ['invalid_scope', { scope: 'profile.read,posts.read' }],
    ['invalid_scope', { scope: 'openid' }],
    ['invalid_scope', { scope: 'offline_access' }],
    ['invalid_scope', { scope: 'profile.read posts.write' }, READER],
    ['interaction_required', { prompt: 'none' }],
    ['invalid_request', { prompt: 'none consent' }],
    ['invalid_request', { prompt: 'create' }],
    ['invalid_request', { prompt: 'login create' }],
    ['invalid_request', { prompt: 'LOGIN' }],
    ['invalid_request', {}, PKCE_APP],
    ['invalid_request', {}, PUBLIC_APP],
    ['invalid_request', withMethod('S256', ''), PKCE_APP],
    ['invalid_request', withMethod('S256', ''), PUBLIC_APP],
    ['invalid_request', { code_challenge_method: 'S256' }],
    ...['plain', undefined, '', 's256', 'S512', 'S256 '].flatMap(
      (method): [string, Changes, RegisteredApp][] =>
        [APP, PUBLIC_APP].map((app) => ['invalid_request', withMethod(method), app]),
    ),
    // 42 and 44 characters, and characters that base64url does not have.
    ...[
      CHALLENGE.slice(1),
      `${CHALLENGE}A`,
      `${CHALLENGE}=`,
      `${CHALLENGE.slice(2)}+/`,
      `${CHALLENGE}\n`,
      `${CHALLENGE.slice(1)}~`,
    ].flatMap((challenge): [string, Changes, RegisteredApp][] =>
      [APP, PUBLIC_APP].map((app) => ['invalid_request', withMethod('S256', challenge), app]),
    ),
  ])('O7 O9 O10 O12 O13 O21 O22 O23 O41 O121 redirects with %s for %j', (error, changes, app) => {
    expect(rejectionOf(changes, '', app)).toEqual(redirect(error));
  });

  it.each([
    'scope',
    'response_type',
    'code_challenge',
    'code_challenge_method',
    'prompt',
    'ui_locales',
    'response_mode',
    'request',
    'request_uri',
  ])('O8 rejects %s when it is sent twice', (name) => {
    expect(rejectionOf({}, `&${name}=a&${name}=b`)).toEqual(redirect('invalid_request'));
  });

  it.each<[Changes, string?]>([
    [{ state: undefined }],
    [{ state: '' }],
    [{ state: undefined, 'state[]': 'x' }],
    [{}, '&state=other'],
  ])('O8 O9 O10 O15 rejects %j, and returns no state', (changes, appended) => {
    expect(rejectionOf(changes, appended)).toMatchObject({
      error: 'invalid_request',
      redirectUri: REDIRECT_URI,
      state: undefined,
    });
  });

  it.each<[Changes, Partial<AuthorizationRequest>, RegisteredApp?]>([
    // Empty parameters are omitted, and unknown ones ignored.
    [{ code_challenge: '', code_challenge_method: '', prompt: '' }, {}],
    [{ response_mode: '', request: '' }, {}],
    [{ response_mode: 'query' }, {}],
    [{ 'scope[a]': 'b', 'state[]': 'x' }, {}],
    [{ scope: 'posts.read posts.read profile.read' }, {}],
    [{ scope: 'profile.read' }, { scopes: ['profile.read'], app: READER }, READER],
    [withMethod('S256'), { codeChallenge: CHALLENGE }],
    [withMethod('S256'), { codeChallenge: CHALLENGE, app: PKCE_APP }, PKCE_APP],
    [withMethod('S256'), { codeChallenge: CHALLENGE, app: PUBLIC_APP }, PUBLIC_APP],
    [{ prompt: 'consent' }, { prompt: 'consent' }],
    [{ prompt: 'login' }, { prompt: 'login' }],
    [{ prompt: 'select_account' }, { prompt: 'select_account' }],
    [{ prompt: 'login consent' }, { prompt: 'login' }],
    [{ prompt: 'consent  select_account' }, { prompt: 'select_account' }],
  ])('O9 O10 O12 O14 O21 O41 O121 accepts %j', (changes, expected, app) => {
    expect(check(changes, '', app)).toEqual(request(expected));
  });

  it.each([
    'nonce',
    'audience',
    'resource',
    '__proto__',
    'constructor',
    'hasOwnProperty',
    'toString',
  ])('O11 ignores the unknown parameter %s, even twice', (name) => {
    expect(check({}, `&${name}=1&${name}=2`)).toEqual(request());
  });

  it.each([
    'a b',
    'a+b',
    '100%25',
    'a&b=c',
    `"'<script>`,
    'a\r\nSet-Cookie: x=1',
    'a\0b',
    'état 状態 🏡',
    's'.repeat(4096),
    'é'.repeat(2048),
  ])('O15 returns the state %j unchanged', (state) => {
    expect(check({ state })).toEqual(request({ state }));
    expect(rejectionOf({ state, response_type: 'token' })).toEqual(
      redirect('unsupported_response_type', state),
    );
  });

  it.each([undefined, 'profile.read,posts.read', 'openid'])(
    'O12 O13 says that scopes are separated by spaces, and lists those of the app: %j',
    (scope) => {
      const { description } = rejectionOf({ scope }, '', READER);
      expect(description).toContain('separated by spaces');
      expect(description).toContain('profile.read posts.read');
    },
  );

  it('says why a state is required and how libraries send it', () => {
    const { description } = rejectionOf({ state: undefined });
    expect(description).toMatch(/^state is required: it proves to your app that/);
    for (const library of ['openid-client', 'passport-oauth2', 'MCP SDK'])
      expect(description).toContain(library);
    expect(description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  });
});
