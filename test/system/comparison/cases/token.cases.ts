// Each case is sent to both servers; the test compares the responses.

import { CHALLENGE, VERIFIER } from '../../../support/oauth-flow.js';
import { type Case, exchange, flow, refresh, type Step, wait } from '../tested-server.js';

const TOKEN = '/oauth/token';
const OTHER_VERIFIER = 'x'.repeat(43);
const UNKNOWN_CODE = `svcac_${'x'.repeat(43)}`;
const OTHER_URI = { redirect_uri: 'https://a.example/' };
const NO_CODE = { code: undefined, redirect_uri: undefined };

function token(
  name: string,
  proves: string,
  steps: readonly Step[],
  options?: Parameters<typeof flow>[3],
): Case {
  return flow(`token: ${name}`, proves, steps, options);
}

/** A request that needs no code. */
function raw(name: string, proves: string, path: string, init?: RequestInit): Case {
  return { name: `token: ${name}`, proves, send: (server) => server.fetch(path, init) };
}

const multipart = new FormData();
multipart.set('grant_type', 'authorization_code');

const common: Case[] = [
  token('grant_type missing', 'O64', [exchange({ grant_type: undefined })]),
  token('grant_type empty', 'O64', [exchange({ ...NO_CODE, grant_type: '' })]),
  token('grant_type unknown', 'O64', [exchange({ ...NO_CODE, grant_type: 'foo' })]),
  token('grant_type password', 'O64', [
    exchange({ ...NO_CODE, grant_type: 'password', username: 'a', password: 'b' }),
  ]),
  token('grant_type client_credentials', 'O64', [
    exchange({ ...NO_CODE, grant_type: 'client_credentials' }),
  ]),
  token('grant_type implicit', 'O64', [exchange({ ...NO_CODE, grant_type: 'implicit' })]),
  token('grant_type twice', 'O65', [
    exchange({ grant_type: ['authorization_code', 'authorization_code'] }),
  ]),
  token('code twice', 'O65', [exchange({ code: [UNKNOWN_CODE, UNKNOWN_CODE] })]),
  token('redirect_uri twice', 'O65', [exchange({ redirect_uri: ['https://a', 'https://b'] })]),
  token('client_id twice', 'O65', [exchange({ client_id: ['a', 'b'] })], { app: 'pocket' }),
  token('an unknown parameter', 'O67', [exchange({ audience: 'a' })]),
  token('an unknown parameter twice', 'O67', [exchange({ audience: ['a', 'b'] })]),
  raw('a JSON body', 'O62', TOKEN, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_type: 'authorization_code', code: UNKNOWN_CODE }),
  }),
  raw('a body without a type', 'O62', TOKEN, {
    method: 'POST',
    body: new Blob(['grant_type=authorization_code']),
  }),
  raw('no body', 'O62', TOKEN, { method: 'POST' }),
  raw('a multipart body', 'O62', TOKEN, { method: 'POST', body: multipart }),
  {
    name: 'token: the parameters in the query',
    proves: 'O63',
    send: (server) =>
      server.fetch(`${TOKEN}?grant_type=refresh_token&client_id=${server.apps.pocket.clientId}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: '',
      }),
  },
  raw('the method GET', 'O61', `${TOKEN}?grant_type=authorization_code`),
  raw('the method PUT', 'O61', TOKEN, { method: 'PUT' }),
];

const codes: Case[] = [
  token('a valid code of a confidential app', 'O59', [exchange()]),
  token('a valid code of a public app', 'O59', [exchange()], { app: 'pocket' }),
  token('a valid code with fewer scopes', 'O59', [exchange()], { link: { scope: 'posts.read' } }),
  token('code missing', 'O69', [exchange({ code: undefined })]),
  token('code unknown', 'O69', [exchange({ code: UNKNOWN_CODE })]),
  token('redirect_uri of another address', 'O72', [exchange(OTHER_URI)]),
  token(
    'redirect_uri on another loopback port',
    'O72',
    [exchange({ redirect_uri: 'http://127.0.0.1:4000/callback' })],
    { app: 'pocket' },
  ),
  token('redirect_uri missing', 'O73', [exchange({ redirect_uri: undefined })]),
  token('code expired', 'O69', [wait(301), exchange()]),
  token('an access token as code', 'O69', [
    exchange(),
    exchange(({ access_token: code }) => ({ code })),
  ]),
  token('code of another app', 'O70', [exchange({}, 'library')]),
  token('code after an exchange by another app', 'O70', [exchange({}, 'library'), exchange()]),
  token('code after an exchange with a wrong secret', 'O71', [
    exchange({ client_secret: 'wrong' }),
    exchange(),
  ]),
  token('code after an exchange with a wrong redirect_uri', 'O72', [
    exchange(OTHER_URI),
    exchange(),
  ]),
];

/** PKCE of the public app, which always sends a challenge. */
function pkce(name: string, proves: string, ...verifiers: (string | undefined)[]): Case {
  const steps = verifiers.map((code_verifier) => exchange({ code_verifier }));
  return token(name, proves, steps, { app: 'pocket' });
}

const link = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };

const verifiers: Case[] = [
  token('verifier of a confidential app', 'O59', [exchange({ code_verifier: VERIFIER })], { link }),
  token('verifier missing, of a confidential app', 'O74', [exchange()], { link }),
  token('verifier without a challenge', 'O76', [exchange({ code_verifier: VERIFIER })]),
  pkce('verifier missing', 'O74', undefined),
  pkce('verifier empty', 'O74', ''),
  pkce('verifier of 42 characters', 'O74', 'x'.repeat(42)),
  pkce('verifier of 129 characters', 'O74', 'x'.repeat(129)),
  pkce('verifier with a space', 'O74', `${'x'.repeat(43)} x`),
  pkce('verifier of another challenge', 'O75', OTHER_VERIFIER),
  pkce('verifier in upper case', 'O75', VERIFIER.toUpperCase()),
  pkce('code after an exchange with a malformed verifier', 'O74', 'short', VERIFIER),
  pkce('code after an exchange with another verifier', 'O75', OTHER_VERIFIER, VERIFIER),
];

const replays: Case[] = [
  token('code used before', 'O78', [exchange(), exchange()]),
  token('code used 11 seconds before', 'O78', [exchange(), wait(11), exchange()]),
  token('refresh after the code was sent twice', 'O78', [exchange(), exchange(), refresh()]),
  token('refresh after the code was sent again 11 seconds later', 'O78', [
    exchange(),
    wait(11),
    exchange(),
    refresh(),
  ]),
  token('refresh after the code was sent again with a wrong secret', 'O79', [
    exchange(),
    wait(11),
    exchange({ client_secret: 'wrong' }),
    refresh(),
  ]),
];

/** The token endpoint: general rules, the code grant and PKCE (RFC 6749 §4.1.3, RFC 7636 §4.5). */
export const tokenCases: readonly Case[] = [...common, ...codes, ...verifiers, ...replays];
