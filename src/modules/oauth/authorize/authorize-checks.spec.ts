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

const APP: RegisteredApp = {
  clientId: 'svc_app_01jdx8m3wze5cr4w0hg3k7n2qp',
  name: 'Garden Share',
  kind: 'confidential',
  scopes: SCOPES,
  redirectUris: [REDIRECT_URI],
  enabled: true,
  postsHidden: false,
  requiresPkce: false,
  ...NO_IDENTITY,
  createdAt: new Date('2026-11-21T09:30:00.000Z'),
};
const PKCE_APP: RegisteredApp = { ...APP, requiresPkce: true };
const PUBLIC_APP: RegisteredApp = { ...PKCE_APP, kind: 'public' };

type Changes = Record<string, string | undefined>;

const VALID = {
  response_type: 'code',
  client_id: APP.clientId,
  redirect_uri: REDIRECT_URI,
  scope: 'profile.read posts.read',
  state: 'af0ifjsldkj',
};

/** The query of a valid request with these changes. Omits parameters that are undefined. */
function queryOf(changes: Changes = {}, appended = ''): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries<string | undefined>({ ...VALID, ...changes }))
    if (value !== undefined) query.append(name, value);
  return `${query.toString()}${appended}`;
}

function check(query: string, app: RegisteredApp | null = APP): AuthorizationRequest {
  return checkAuthorizationRequest({ app, parameters: new Parameters(parse(query)) });
}

/** Where the server reports the error: on a page, or by a redirect to the app. Undefined for a valid request. */
function rejectionOf(query: string, app: RegisteredApp | null = APP): object | undefined {
  try {
    check(query, app);
    return undefined;
  } catch (rejection) {
    if (rejection instanceof PageError) return { status: rejection.status, page: rejection.code };
    if (!(rejection instanceof AuthorizationError)) throw rejection;
    const { redirectUri, error, state = null } = rejection;
    return { redirectUri, error: error.code, state };
  }
}

/** The error description in the redirect to the app. */
function descriptionOf(query: string, app: RegisteredApp | null = APP): string {
  try {
    check(query, app);
  } catch (rejection) {
    if (rejection instanceof AuthorizationError) return rejection.error.message;
    throw rejection;
  }
  throw new Error('The request is valid.');
}

/** An error page, without a redirect. */
function page(code: string): object {
  return { status: 400, page: code };
}

/** An error in a redirect to the app. */
function redirect(error: string, state: string | null = VALID.state): object {
  return { redirectUri: REDIRECT_URI, error, state };
}

describe('Authorization request: client and redirect URI', () => {
  it('O1 accepts a valid request', () => {
    expect(check(queryOf())).toEqual({
      app: APP,
      redirectUri: REDIRECT_URI,
      scopes: ['profile.read', 'posts.read'],
      state: VALID.state,
      codeChallenge: null,
      prompt: null,
    });
  });

  it('O2 shows a page for an unknown or disabled app', () => {
    expect(rejectionOf(queryOf(), null)).toEqual(page('unknown_app'));
    expect(rejectionOf(queryOf(), { ...APP, enabled: false })).toEqual(page('unknown_app'));
  });

  it('O2 shows the page for an unknown app before any other error', () => {
    expect(rejectionOf('', null)).toEqual(page('unknown_app'));
    const wrong = { redirect_uri: 'https://evil.example/', response_type: 'token' };
    expect(rejectionOf(queryOf(wrong), null)).toEqual(page('unknown_app'));
  });

  const duplicate = `&redirect_uri=${encodeURIComponent(REDIRECT_URI)}`;
  const redirect_uri = `${REDIRECT_URI}/`;

  it.each([
    ['is missing, even if the app has registered only one', queryOf({ redirect_uri: undefined })],
    ['is empty', queryOf({ redirect_uri: '' })],
    ['is sent twice, even with the registered value', queryOf({}, duplicate)],
    ['is not registered', queryOf({ redirect_uri })],
    ['and response_type are wrong', queryOf({ redirect_uri, response_type: 'token' })],
    ['is wrong and scope is missing', queryOf({ redirect_uri, scope: undefined })],
  ])('O3 O4 O8 O10 shows a page when redirect_uri %s', (_, query) => {
    expect(rejectionOf(query)).toEqual(page('wrong_redirect_uri'));
  });

  it('O5 O6 allows any loopback port for a public app only', () => {
    const redirectUris = ['http://127.0.0.1:8080/cb'];
    const requested = 'http://127.0.0.1:51004/cb';
    const query = queryOf(
      { redirect_uri: requested },
      `&code_challenge=${CHALLENGE}&code_challenge_method=S256`,
    );
    expect(check(query, { ...PUBLIC_APP, redirectUris }).redirectUri).toBe(requested);
    expect(rejectionOf(query, { ...APP, redirectUris })).toEqual(page('wrong_redirect_uri'));
  });
});

describe('Authorization request: parameters', () => {
  it.each([
    [undefined, 'invalid_request'],
    ...['token', 'code token', 'code id_token', 'foo', 'CODE'].map((type): [string, string] => [
      type,
      'unsupported_response_type',
    ]),
  ])('O7 rejects the response_type %j with %s', (response_type, error) => {
    expect(rejectionOf(queryOf({ response_type }))).toEqual(redirect(error));
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
    expect(rejectionOf(queryOf({}, `&${name}=a&${name}=b`))).toEqual(redirect('invalid_request'));
  });

  it('O8 rejects state when it is sent twice, and returns no state', () => {
    expect(rejectionOf(queryOf({}, '&state=other'))).toEqual(redirect('invalid_request', null));
  });

  it('O9 ignores array and object syntax', () => {
    const withoutState = queryOf({ state: undefined }, '&state[]=x&scope[a]=b');
    expect(rejectionOf(withoutState)).toEqual(redirect('invalid_request', null));
    const withoutScope = queryOf({ scope: undefined }, '&scope[a]=posts.read');
    expect(rejectionOf(withoutScope)).toEqual(redirect('invalid_scope'));
    expect(check(queryOf({}, '&scope[a]=b&state[]=x')).state).toBe(VALID.state);
  });

  it.each([
    ['state', 'invalid_request'],
    ['scope', 'invalid_scope'],
    ['response_type', 'invalid_request'],
  ])('O10 treats an empty %s as omitted', (name, error) => {
    const state = name === 'state' ? null : VALID.state;
    expect(rejectionOf(queryOf({ [name]: '' }))).toEqual(redirect(error, state));
  });

  it.each(['code_challenge', 'code_challenge_method', 'prompt', 'response_mode', 'request'])(
    'O10 treats an empty %s of a confidential app as omitted',
    (name) => {
      expect(check(queryOf({ [name]: '' }))).toEqual(check(queryOf()));
    },
  );

  it.each([
    'nonce',
    'audience',
    'resource',
    '__proto__',
    'constructor',
    'hasOwnProperty',
    'toString',
  ])('O11 ignores the unknown parameter %s, even twice', (name) => {
    expect(check(queryOf({}, `&${name}=1&${name}=2`))).toEqual(check(queryOf()));
  });

  it.each([
    [{ response_mode: 'fragment' }, 'invalid_request'],
    [{ response_mode: 'form_post' }, 'invalid_request'],
    [{ request: 'e30.e30.' }, 'request_not_supported'],
    [{ request_uri: 'urn:example:1' }, 'request_uri_not_supported'],
  ])('O121 rejects %j', (changes: Changes, error) => {
    expect(rejectionOf(queryOf(changes))).toEqual(redirect(error));
  });

  it('O121 accepts the response_mode query', () => {
    expect(check(queryOf({ response_mode: 'query' }))).toEqual(check(queryOf()));
  });
});

describe('Authorization request: scope', () => {
  it.each([
    'posts.delete',
    'profile.read posts.delete',
    'Profile.read',
    'profile.read,posts.read',
    'openid',
    'offline_access',
  ])('O12 rejects the unknown scope "%s"', (scope) => {
    expect(rejectionOf(queryOf({ scope }))).toEqual(redirect('invalid_scope'));
  });

  it('O12 rejects a scope that the app is not registered for', () => {
    const app: RegisteredApp = { ...APP, scopes: ['profile.read'] };
    expect(rejectionOf(queryOf({ scope: 'profile.read posts.write' }), app)).toEqual(
      redirect('invalid_scope'),
    );
    expect(check(queryOf({ scope: 'profile.read' }), app).scopes).toEqual(['profile.read']);
  });

  it.each([undefined, ' ', '   '])('O13 rejects the missing or blank scope %j', (scope) => {
    expect(rejectionOf(queryOf({ scope }))).toEqual(redirect('invalid_scope'));
  });

  it.each([undefined, 'profile.read,posts.read', 'openid'])(
    'O12 O13 says that scopes are separated by spaces, and lists those of the app: %j',
    (scope) => {
      const app: RegisteredApp = { ...APP, scopes: ['profile.read', 'posts.read'] };
      expect(descriptionOf(queryOf({ scope }), app)).toMatch(
        /separated by spaces.*profile\.read posts\.read|profile\.read posts\.read.*separated by spaces/,
      );
    },
  );

  it('O14 removes repeated scopes and lists them in the fixed order', () => {
    const { scopes } = check(queryOf({ scope: 'posts.read posts.read profile.read' }));
    expect(scopes).toEqual(['profile.read', 'posts.read']);
  });
});

describe('Authorization request: state', () => {
  it('says why a state is required and how libraries send it', () => {
    const description = descriptionOf(queryOf({ state: undefined }));
    expect(description).toMatch(/^state is required: it proves to your app that/);
    for (const library of ['openid-client', 'passport-oauth2', 'MCP SDK'])
      expect(description).toContain(library);
    expect(description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  });

  it.each([
    ['a space', 'a b'],
    ['a plus', 'a+b'],
    ['a percent sign', '100%25'],
    ['an ampersand and an equals sign', 'a&b=c'],
    ['quotes and angle brackets', `"'<script>`],
    ['line breaks', 'a\r\nSet-Cookie: x=1'],
    ['a NUL', 'a\0b'],
    ['other scripts and emoji', 'état 状態 🏡'],
    ['4,096 bytes', 's'.repeat(4096)],
    ['4,096 bytes of two-byte characters', 'é'.repeat(2048)],
  ])('O15 returns a state with %s unchanged', (_, state) => {
    expect(check(queryOf({ state })).state).toBe(state);
    const wrong = queryOf({ state, response_type: 'token' });
    expect(rejectionOf(wrong)).toEqual(redirect('unsupported_response_type', state));
  });

  it.each([
    ['no other error', {}],
    ['a wrong response_type', { response_type: 'token' }],
    ['a missing scope', { scope: undefined }],
    ['a short code_challenge', { code_challenge: 'short', code_challenge_method: 'S256' }],
    ['prompt=none', { prompt: 'none' }],
  ])('O15 shows a page for a state of 4,097 bytes and %s', (_, wrong) => {
    const state = 'é'.repeat(2048) + 'x';
    expect(rejectionOf(queryOf({ ...wrong, state }))).toEqual(page('state_too_long'));
    expect(rejectionOf(queryOf({ ...wrong, state }, '&scope=again'))).toEqual(
      page('state_too_long'),
    );
  });

  it('O15 rejects a missing state', () => {
    expect(rejectionOf(queryOf({ state: undefined }))).toEqual(redirect('invalid_request', null));
  });
});

describe('Authorization request: PKCE', () => {
  const withChallenge = (challenge?: string, method?: string): string =>
    queryOf({ code_challenge: challenge, code_challenge_method: method });

  it.each([undefined, ''])(
    'O21 rejects an app that requires PKCE with the code_challenge %j',
    (challenge) => {
      for (const app of [PUBLIC_APP, PKCE_APP])
        for (const method of [undefined, 'S256'])
          expect(rejectionOf(withChallenge(challenge, method), app)).toEqual(
            redirect('invalid_request'),
          );
    },
  );

  it('O21 accepts a confidential app with and without a code_challenge, and an app that requires PKCE with one', () => {
    expect(check(withChallenge()).codeChallenge).toBeNull();
    expect(check(withChallenge(CHALLENGE, 'S256')).codeChallenge).toBe(CHALLENGE);
    for (const app of [PUBLIC_APP, PKCE_APP])
      expect(check(withChallenge(CHALLENGE, 'S256'), app).codeChallenge).toBe(CHALLENGE);
  });

  it.each(['plain', undefined, '', 's256', 'S512', 'S256 '])(
    'O22 rejects the code_challenge_method %j',
    (method) => {
      for (const app of [APP, PUBLIC_APP])
        expect(rejectionOf(withChallenge(CHALLENGE, method), app)).toEqual(
          redirect('invalid_request'),
        );
    },
  );

  it('O22 rejects a code_challenge_method without a code_challenge', () => {
    expect(rejectionOf(withChallenge(undefined, 'S256'))).toEqual(redirect('invalid_request'));
  });

  it.each([
    ['42 characters', CHALLENGE.slice(1)],
    ['44 characters', `${CHALLENGE}A`],
    ['padding', `${CHALLENGE}=`],
    ['a plus and a slash, as in base64', `${CHALLENGE.slice(2)}+/`],
    ['a line break at its end', `${CHALLENGE}\n`],
    ['a tilde', `${CHALLENGE.slice(1)}~`],
  ])('O23 rejects a code_challenge with %s', (_, challenge) => {
    for (const app of [APP, PUBLIC_APP])
      expect(rejectionOf(withChallenge(challenge, 'S256'), app)).toEqual(
        redirect('invalid_request'),
      );
  });
});

describe('Authorization request: prompt', () => {
  it.each([
    ['consent', 'consent'],
    ['login', 'login'],
    ['select_account', 'select_account'],
    ['login consent', 'login'],
    ['consent  select_account', 'select_account'],
  ])('O41 accepts the prompt "%s"', (prompt, stored) => {
    expect(check(queryOf({ prompt })).prompt).toBe(stored);
  });

  it('O41 rejects prompt=none, because the user always decides', () => {
    expect(rejectionOf(queryOf({ prompt: 'none' }))).toEqual(redirect('interaction_required'));
  });

  it.each(['none consent', 'create', 'login create', 'LOGIN'])(
    'O121 rejects the prompt "%s"',
    (prompt) => {
      expect(rejectionOf(queryOf({ prompt }))).toEqual(redirect('invalid_request'));
    },
  );
});
