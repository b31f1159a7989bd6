// Each case is sent to both servers; the test compares the responses.

import { authorizeLink } from '../../../support/oauth-flow.js';
import type { TestClient } from '../../../support/test-app.js';
import type { Apps, Case } from '../tested-server.js';

type Replaced = Record<string, string | undefined>;

const UNKNOWN_CLIENT_ID = 'svc_app_01jdx8m3wze5cr4w0hg3k7n2qp';

/** An authorization request: the app's valid link with some parameters replaced and some text added. */
function link(
  name: string,
  proves: string | undefined,
  app: keyof Apps,
  replaced: Replaced | ((app: TestClient) => Replaced) = {},
  added: string | ((app: TestClient) => string) = '',
): Case {
  return {
    name: `authorize: ${name}`,
    proves,
    send(server) {
      const client = server.apps[app];
      const parameters = typeof replaced === 'function' ? replaced(client) : replaced;
      const more = typeof added === 'function' ? added(client) : added;
      return server.fetch(authorizeLink(client, parameters) + more);
    },
  };
}

/** A valid request with a decision of the user. */
function decided(
  name: string,
  proves: string,
  app: keyof Apps,
  decision: 'approve' | 'deny',
  replaced: Replaced = {},
): Case {
  return {
    name: `authorize: ${name}`,
    proves,
    send: (server) => server.decide(authorizeLink(server.apps[app], replaced), decision),
  };
}

function uri(name: string, proves: string, app: keyof Apps, value: string | undefined): Case {
  return link(`redirect_uri ${name}`, proves, app, { redirect_uri: value });
}

const clients: Case[] = [
  link('a valid request of a confidential app', 'O1', 'garden'),
  link('a valid request of a public app', 'O1', 'pocket'),
  link('client_id missing', 'O2', 'garden', { client_id: undefined }),
  link('client_id unknown', 'O2', 'garden', { client_id: UNKNOWN_CLIENT_ID }),
  link('client_id malformed', 'O2', 'garden', { client_id: `' OR 1=1` }),
  link('client_id in upper case', 'O2', 'garden', ({ clientId }) => ({
    client_id: clientId.toUpperCase(),
  })),
];

const redirects: Case[] = [
  uri('missing', 'O3', 'garden', undefined),
  uri('empty', 'O10', 'garden', ''),
  uri('of another app', 'O4', 'garden', 'https://library.example/callback?branch=north'),
  uri('of another host', 'O4', 'garden', 'https://garden.example.evil.example/callback'),
  uri('with an extra slash', 'O4', 'garden', 'https://garden.example/callback/'),
  uri('with another port', 'O4', 'garden', 'https://garden.example:8443/callback'),
  uri('with the default port', 'O4', 'garden', 'https://garden.example:443/callback'),
  uri('with http', 'O4', 'garden', 'http://garden.example/callback'),
  uri('with an extra query', 'O4', 'garden', 'https://garden.example/callback?a=1'),
  uri('with a fragment', 'O4', 'garden', 'https://garden.example/callback#a'),
  uri('with a user name', 'O4', 'garden', 'https://evil@garden.example/callback'),
  uri('with a path in upper case', 'O4', 'garden', 'https://garden.example/Callback'),
  uri('with dots in the path', 'O4', 'garden', 'https://garden.example/x/../callback'),
  uri(
    'with a percent-encoded letter in the path',
    'O4',
    'garden',
    'https://garden.example/%63allback',
  ),
  uri('without its registered query', 'O4', 'library', 'https://library.example/callback'),
  uri('that is not a URI', 'O4', 'garden', 'callback'),
  uri('on a loopback port', 'O5', 'pocket', 'http://127.0.0.1:52013/callback'),
  uri('on localhost instead of 127.0.0.1', 'O5', 'pocket', 'http://localhost:52013/callback'),
  uri('on a loopback port with another path', 'O5', 'pocket', 'http://127.0.0.1:52013/other'),
  uri(
    'with a loopback host and port as user info',
    'O5',
    'pocket',
    'http://127.0.0.1:80@evil.example/callback',
  ),
  uri('of a private-use scheme', 'O5', 'pocket', 'com.example.pocket:/callback'),
  uri('of a private-use scheme with another path', 'O5', 'pocket', 'com.example.pocket:/other'),
];

const types: Case[] = [
  link('response_type missing', 'O7', 'garden', { response_type: undefined }),
  link('response_type empty', 'O10', 'garden', { response_type: '' }),
  link('response_type foo', 'O7', 'garden', { response_type: 'foo' }),
  link('response_type CODE', 'O7', 'garden', { response_type: 'CODE' }),
  link('response_type token', 'O7', 'garden', { response_type: 'token' }),
  link('response_type code token', 'O7', 'garden', { response_type: 'code token' }),
];

const repeated: Case[] = [
  link('response_type twice', 'O8', 'garden', {}, '&response_type=code'),
  link('scope twice', 'O8', 'garden', {}, '&scope=posts.read'),
  link('code_challenge twice', 'O8', 'pocket', {}, `&code_challenge=${'x'.repeat(43)}`),
  link('code_challenge_method twice', 'O8', 'pocket', {}, '&code_challenge_method=S256'),
  link('state twice', 'O8', 'garden', {}, '&state=again'),
  link('client_id twice', 'O8', 'garden', {}, ({ clientId }) => `&client_id=${clientId}`),
  link(
    'redirect_uri twice',
    'O8',
    'garden',
    {},
    '&redirect_uri=https%3A%2F%2Fgarden.example%2Fcallback',
  ),
  link('prompt twice', 'O8', 'garden', {}, '&prompt=consent&prompt=consent'),
  link('an unknown parameter twice', 'O11', 'garden', {}, '&audience=a&audience=b'),
  link('unknown parameters', 'O11', 'garden', { access_type: 'offline', audience: 'a' }),
  link('nonce', 'O11', 'garden', { nonce: 'n-0S6_WzA2Mj' }),
  link('a state in array syntax only', 'O9', 'garden', { state: undefined }, '&state[]=x'),
];

const scopes: Case[] = [
  link('scope unknown', 'O12', 'garden', { scope: 'profile.read posts.delete' }),
  link('scope not registered for the app', 'O12', 'pocket', { scope: 'posts.write' }),
  link('scope in upper case', 'O12', 'garden', { scope: 'Profile.Read' }),
  link('scope missing', 'O13', 'garden', { scope: undefined }),
  link('scope empty', 'O13', 'garden', { scope: '' }),
  link('scope of spaces', 'O13', 'garden', { scope: ' ' }),
  link('scope with a quote', 'O12', 'garden', { scope: 'posts.read "' }),
  link('scope with a repeated value', 'O14', 'garden', { scope: 'posts.read posts.read' }),
];

const pkce: Case[] = [
  link('no code_challenge of a public app', 'O21', 'pocket', {
    code_challenge: undefined,
    code_challenge_method: undefined,
  }),
  link('code_challenge empty, of a public app', 'O21', 'pocket', { code_challenge: '' }),
  link('code_challenge_method plain', 'O22', 'pocket', { code_challenge_method: 'plain' }),
  link('code_challenge_method absent', 'O22', 'pocket', { code_challenge_method: undefined }),
  link('code_challenge_method s256', 'O22', 'pocket', { code_challenge_method: 's256' }),
  link('code_challenge_method S512', 'O22', 'pocket', { code_challenge_method: 'S512' }),
  link('code_challenge_method without a challenge', 'O22', 'garden', {
    code_challenge_method: 'S256',
  }),
  link('code_challenge of 42 characters', 'O23', 'pocket', { code_challenge: 'x'.repeat(42) }),
  link('code_challenge of 44 characters', 'O23', 'pocket', { code_challenge: 'x'.repeat(44) }),
  link('code_challenge of 129 characters', 'O23', 'pocket', { code_challenge: 'x'.repeat(129) }),
  link('code_challenge with a plus', 'O23', 'pocket', { code_challenge: `${'x'.repeat(42)}+` }),
  link('code_challenge with padding', 'O23', 'pocket', { code_challenge: `${'x'.repeat(42)}=` }),
];

const prompts: Case[] = [
  link('prompt none', 'O41', 'garden', { prompt: 'none' }),
  link('prompt consent', 'O41', 'garden', { prompt: 'consent' }),
  link('prompt login', 'O41', 'garden', { prompt: 'login' }),
  link('prompt none and consent', 'O41', 'garden', { prompt: 'none consent' }),
];

const STATES: Record<string, string> = {
  'a space': 'a b',
  'a plus': 'a+b',
  'a percent sign': '100%25',
  'an ampersand and an equals sign': 'a&b=c',
  'quotes and angle brackets': `"'<script>`,
  'line breaks': 'a\r\nSet-Cookie: x=1',
  'other scripts and emoji': 'état 状態 🏡',
  '4,096 characters': 's'.repeat(4096),
};

const states: Case[] = [
  ...Object.entries(STATES).flatMap(([name, state]) => [
    decided(`a code and a state with ${name}`, 'O15', 'garden', 'approve', { state }),
    link(`an error and a state with ${name}`, 'O15', 'garden', { state, response_type: 'foo' }),
  ]),
  link('state missing', 'O15', 'garden', { state: undefined }),
  link('state missing and another error', 'O15', 'garden', {
    state: undefined,
    response_type: 'foo',
  }),
  link('state of 4,097 characters', 'O15', 'garden', { state: 's'.repeat(4097) }),
];

const decisions: Case[] = [
  decided('the user allows a confidential app', 'O16', 'garden', 'approve'),
  decided('the user allows a public app', 'O16', 'pocket', 'approve'),
  decided('the user denies', 'O36', 'garden', 'deny'),
  decided('the user allows, to a redirect with a query', 'O17', 'library', 'approve'),
  decided('the user denies, to a redirect with a query', 'O17', 'library', 'deny'),
  decided('the user allows, to a loopback port', 'O5', 'pocket', 'approve', {
    redirect_uri: 'http://127.0.0.1:52013/callback',
  }),
  decided('the user allows, to a private-use scheme', 'O5', 'pocket', 'approve', {
    redirect_uri: 'com.example.pocket:/callback',
  }),
];

const method = (name: string): Case => ({
  name: `authorize: the method ${name}`,
  proves: 'O19',
  send: (server) => server.fetch(authorizeLink(server.apps.garden), { method: name }),
});

/** The authorization endpoint (RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 9207 §2). */
export const authorizeCases: readonly Case[] = [
  ...clients,
  ...redirects,
  ...types,
  ...repeated,
  ...scopes,
  ...pkce,
  ...prompts,
  ...states,
  ...decisions,
  method('POST'),
  method('PUT'),
];
