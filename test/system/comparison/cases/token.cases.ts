// Each case is sent to both servers; the test compares the responses.

import { CHALLENGE, VERIFIER } from '../../../support/oauth-flow.js';
import { json, type TokenBody } from '../../../support/responses.js';
import {
  type Apps,
  newCode,
  exchangeForm,
  type FormParameters,
  post,
  refreshForm,
  type Case,
  newTokens,
} from '../tested-server.js';

const TOKEN = '/oauth/token';
const OTHER_VERIFIER = 'x'.repeat(43);
const UNKNOWN_CODE = `svcac_${'x'.repeat(43)}`;

function testCase(name: string, proves: string | undefined, send: Case['send']): Case {
  return { name: `token: ${name}`, proves, send };
}

/** The exchange of a new code. `replaced` changes its parameters, `linkParameters` those of the authorization request. */
function exchange(
  name: string,
  proves: string | undefined,
  app: keyof Apps,
  replaced: FormParameters = {},
  { linkParameters = {} }: { linkParameters?: Record<string, string | undefined> } = {},
): Case {
  return testCase(name, proves, async (server) => {
    const client = server.apps[app];
    const form = exchangeForm(client, await newCode(server, client, linkParameters));
    return post(server, TOKEN, client, { ...form, ...replaced });
  });
}

/** A token request of `garden` with its credentials and only these parameters. */
function withParameters(name: string, proves: string | undefined, form: FormParameters): Case {
  return testCase(name, proves, (server) => post(server, TOKEN, server.apps.garden, form));
}

const common: Case[] = [
  withParameters('grant_type missing', 'O64', { code: UNKNOWN_CODE }),
  withParameters('grant_type empty', 'O64', { grant_type: '' }),
  withParameters('grant_type unknown', 'O64', { grant_type: 'foo' }),
  withParameters('grant_type password', 'O64', {
    grant_type: 'password',
    username: 'a',
    password: 'b',
  }),
  withParameters('grant_type client_credentials', 'O64', { grant_type: 'client_credentials' }),
  withParameters('grant_type implicit', 'O64', { grant_type: 'implicit' }),
  withParameters('grant_type twice', 'O65', {
    grant_type: ['authorization_code', 'authorization_code'],
  }),
  exchange('code twice', 'O65', 'garden', { code: [UNKNOWN_CODE, UNKNOWN_CODE] }),
  exchange('redirect_uri twice', 'O65', 'garden', { redirect_uri: ['https://a', 'https://b'] }),
  exchange('client_id twice', 'O65', 'pocket', { client_id: ['a', 'b'] }),
  exchange('an unknown parameter', 'O67', 'garden', { audience: 'a' }),
  exchange('an unknown parameter twice', 'O67', 'garden', { audience: ['a', 'b'] }),
  testCase('a JSON body', 'O62', (server) =>
    server.fetch(TOKEN, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ grant_type: 'authorization_code', code: UNKNOWN_CODE }),
    }),
  ),
  testCase('a body without a type', 'O62', (server) =>
    server.fetch(TOKEN, { method: 'POST', body: new Blob(['grant_type=authorization_code']) }),
  ),
  testCase('no body', 'O62', (server) => server.fetch(TOKEN, { method: 'POST' })),
  testCase('a multipart body', 'O62', (server) => {
    const body = new FormData();
    body.set('grant_type', 'authorization_code');
    return server.fetch(TOKEN, { method: 'POST', body });
  }),
  testCase('the parameters in the query', 'O63', (server) =>
    server.fetch(`${TOKEN}?grant_type=refresh_token&client_id=${server.apps.pocket.clientId}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: '',
    }),
  ),
  testCase('the method GET', 'O61', (server) =>
    server.fetch(`${TOKEN}?grant_type=authorization_code`),
  ),
  testCase('the method PUT', 'O61', (server) => server.fetch(TOKEN, { method: 'PUT' })),
];

const codes: Case[] = [
  exchange('a valid code of a confidential app', 'O59', 'garden'),
  exchange('a valid code of a public app', 'O59', 'pocket'),
  exchange(
    'a valid code with fewer scopes',
    'O59',
    'garden',
    {},
    { linkParameters: { scope: 'posts.read' } },
  ),
  exchange('code missing', 'O69', 'garden', { code: undefined }),
  exchange('code unknown', 'O69', 'garden', { code: UNKNOWN_CODE }),
  exchange('redirect_uri of another address', 'O72', 'garden', {
    redirect_uri: 'https://a.example/',
  }),
  exchange('redirect_uri on another loopback port', 'O72', 'pocket', {
    redirect_uri: 'http://127.0.0.1:4000/callback',
  }),
  exchange('redirect_uri missing', 'O73', 'garden', { redirect_uri: undefined }),
  testCase('code expired', 'O69', async (server) => {
    const { garden } = server.apps;
    const form = exchangeForm(garden, await newCode(server, garden));
    server.advance(301);
    return post(server, TOKEN, garden, form);
  }),
  testCase('an access token as code', 'O69', async (server) => {
    const { garden } = server.apps;
    const { access_token: value } = await newTokens(server, garden);
    return post(server, TOKEN, garden, exchangeForm(garden, value));
  }),
  testCase('code of another app', 'O70', async (server) => {
    const { garden, library } = server.apps;
    return post(server, TOKEN, library, exchangeForm(garden, await newCode(server, garden)));
  }),
  testCase('code after an exchange by another app', 'O70', async (server) => {
    const { garden, library } = server.apps;
    const form = exchangeForm(garden, await newCode(server, garden));
    await post(server, TOKEN, library, form);
    return post(server, TOKEN, garden, form);
  }),
  testCase('code after an exchange with a wrong secret', 'O71', async (server) => {
    const { garden } = server.apps;
    const form = exchangeForm(garden, await newCode(server, garden));
    await post(server, TOKEN, garden, { ...form, client_secret: 'wrong' });
    return post(server, TOKEN, garden, form);
  }),
  testCase('code after an exchange with a wrong redirect_uri', 'O72', async (server) => {
    const { garden } = server.apps;
    const form = exchangeForm(garden, await newCode(server, garden));
    await post(server, TOKEN, garden, { ...form, redirect_uri: 'https://a.example/' });
    return post(server, TOKEN, garden, form);
  }),
];

const WITH_CHALLENGE = {
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
};

const pkce: Case[] = [
  exchange(
    'verifier of a confidential app',
    'O59',
    'garden',
    { code_verifier: VERIFIER },
    { linkParameters: WITH_CHALLENGE },
  ),
  exchange('verifier missing', 'O74', 'pocket', { code_verifier: undefined }),
  exchange('verifier empty', 'O74', 'pocket', { code_verifier: '' }),
  exchange(
    'verifier missing, of a confidential app',
    'O74',
    'garden',
    {},
    { linkParameters: WITH_CHALLENGE },
  ),
  exchange('verifier of 42 characters', 'O74', 'pocket', { code_verifier: 'x'.repeat(42) }),
  exchange('verifier of 129 characters', 'O74', 'pocket', { code_verifier: 'x'.repeat(129) }),
  exchange('verifier with a space', 'O74', 'pocket', { code_verifier: `${'x'.repeat(43)} x` }),
  exchange('verifier of another challenge', 'O75', 'pocket', { code_verifier: OTHER_VERIFIER }),
  exchange('verifier in upper case', 'O75', 'pocket', { code_verifier: VERIFIER.toUpperCase() }),
  exchange('verifier without a challenge', 'O76', 'garden', { code_verifier: VERIFIER }),
  testCase('code after an exchange with a malformed verifier', 'O74', async (server) => {
    const { pocket } = server.apps;
    const form = exchangeForm(pocket, await newCode(server, pocket));
    await post(server, TOKEN, pocket, { ...form, code_verifier: 'short' });
    return post(server, TOKEN, pocket, form);
  }),
  testCase('code after an exchange with another verifier', 'O75', async (server) => {
    const { pocket } = server.apps;
    const form = exchangeForm(pocket, await newCode(server, pocket));
    await post(server, TOKEN, pocket, { ...form, code_verifier: OTHER_VERIFIER });
    return post(server, TOKEN, pocket, form);
  }),
];

/** Exchanges a code, sends it again after some seconds, and compares the second response or that of a refresh. */
function replay(
  name: string,
  proves: string,
  { seconds, changed = {} }: { seconds: number; changed?: FormParameters },
  compared: 'replay' | 'refresh',
): Case {
  return testCase(name, proves, async (server) => {
    const { garden } = server.apps;
    const form = exchangeForm(garden, await newCode(server, garden));
    const issued = await json<TokenBody>(await post(server, TOKEN, garden, form));
    server.advance(seconds);
    const again = await post(server, TOKEN, garden, { ...form, ...changed });
    return compared === 'replay'
      ? again
      : post(server, TOKEN, garden, refreshForm(issued.refresh_token));
  });
}

const WRONG_SECRET = { client_secret: 'wrong' };

const replays: Case[] = [
  replay('code used before', 'O78', { seconds: 0 }, 'replay'),
  replay('code used 11 seconds before', 'O78', { seconds: 11 }, 'replay'),
  replay('refresh after the code was sent twice', 'O78', { seconds: 0 }, 'refresh'),
  replay(
    'refresh after the code was sent again 11 seconds later',
    'O78',
    { seconds: 11 },
    'refresh',
  ),
  replay(
    'refresh after the code was sent again with a wrong secret',
    'O79',
    { seconds: 11, changed: WRONG_SECRET },
    'refresh',
  ),
];

/** The token endpoint: general rules, the code grant and PKCE (RFC 6749 §4.1.3, RFC 7636 §4.5). */
export const tokenCases: readonly Case[] = [...common, ...codes, ...pkce, ...replays];
