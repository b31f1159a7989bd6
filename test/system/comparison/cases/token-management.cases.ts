// Each case is sent to both servers; the test compares the responses.

import type { TokenBody } from '../../../support/responses.js';
import type { TestClient } from '../../../support/test-app.js';
import {
  basic,
  type FormParameters,
  type TestedServer,
  post,
  postForm,
  mustRefresh,
  refreshForm,
  type Case,
  newTokens,
} from '../tested-server.js';

const REVOKE = '/oauth/revoke';
const INTROSPECT = '/oauth/introspect';

type Send = (server: TestedServer, issued: TokenBody, garden: TestClient) => Promise<Response>;

/** A request with the tokens of a new consent to `garden`. */
function afterConsent(name: string, proves: string, send: Send, read?: Case['read']): Case {
  return {
    name,
    proves,
    send: async (server) =>
      send(server, await newTokens(server, server.apps.garden), server.apps.garden),
    ...(read && { read }),
  };
}

/** A revocation of a new refresh token, with some parameters replaced. */
function revoke(name: string, proves: string, replaced: FormParameters = {}): Case {
  return afterConsent(`revoke: ${name}`, proves, (server, { refresh_token: token }, garden) =>
    post(server, REVOKE, garden, { token, ...replaced }),
  );
}

/** Sends `form` to the revocation endpoint, then the request of `probe`. */
function afterRevoking(
  name: string,
  proves: string,
  form: (issued: TokenBody) => FormParameters,
  probe: Send,
): Case {
  return afterConsent(`revoke: ${name}`, proves, async (server, issued, garden) => {
    await post(server, REVOKE, garden, form(issued));
    return probe(server, issued, garden);
  });
}

const sendRefresh: Send = (server, { refresh_token: value }, garden) =>
  post(server, '/oauth/token', garden, refreshForm(value));
const introspectAccessToken: Send = (server, { access_token: token }, garden) =>
  post(server, INTROSPECT, garden, { token });

const revocation: Case[] = [
  revoke('a refresh token', 'O105'),
  revoke('an unknown token', 'O107', { token: 'unknown' }),
  revoke('an unknown hint', 'O107', { token_type_hint: 'foo' }),
  revoke('token missing', 'O108', { token: undefined }),
  revoke('token empty', 'O108', { token: '' }),
  revoke('token twice', 'O108', { token: ['a', 'b'] }),
  revoke('a wrong secret', 'O108', { client_secret: 'wrong' }),
  revoke('no secret', 'O108', { client_secret: undefined }),
  revoke('no credentials', 'O108', { client_id: undefined, client_secret: undefined }),
  afterConsent('revoke: an access token', 'O106', (server, { access_token: token }, garden) =>
    post(server, REVOKE, garden, { token }),
  ),
  afterConsent(
    'revoke: a wrong secret in Basic',
    'O108',
    (server, { access_token: token }, garden) =>
      postForm(server, REVOKE, { token }, basic(garden.clientId, 'wrong')),
  ),
  afterConsent(
    'revoke: the same token in two successive requests',
    'O107',
    async (server, issued, garden) => {
      await post(server, REVOKE, garden, { token: issued.refresh_token });
      return post(server, REVOKE, garden, { token: issued.refresh_token });
    },
  ),
  afterConsent('revoke: the token of another app', 'O109', (server, { refresh_token: token }) =>
    post(server, REVOKE, server.apps.library, { token }),
  ),
  afterConsent(
    'revoke: the token of another app, by a public app',
    'O109',
    (server, { refresh_token: token }) => post(server, REVOKE, server.apps.pocket, { token }),
  ),
  afterConsent('revoke: the method GET', 'O108', (server) => server.fetch(`${REVOKE}?token=x`)),
  afterConsent('revoke: a JSON body', 'O108', (server) =>
    server.fetch(REVOKE, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"token":"x"}',
    }),
  ),
  afterRevoking(
    'a refresh after the revocation of its token',
    'O105',
    (issued) => ({ token: issued.refresh_token }),
    sendRefresh,
  ),
  afterRevoking(
    'a refresh after the revocation of its token with a wrong hint',
    'O107',
    (issued) => ({ token: issued.refresh_token, token_type_hint: 'access_token' }),
    sendRefresh,
  ),
  afterRevoking(
    'the access token after the revocation of the refresh token',
    'O105',
    (issued) => ({ token: issued.refresh_token }),
    introspectAccessToken,
  ),
  afterRevoking(
    'a refresh after the revocation of the access token',
    'O106',
    (issued) => ({ token: issued.access_token }),
    sendRefresh,
  ),
  afterRevoking(
    'the access token after its revocation with a wrong hint',
    'O107',
    (issued) => ({ token: issued.access_token, token_type_hint: 'refresh_token' }),
    introspectAccessToken,
  ),
  afterConsent(
    'revoke: a refresh after another app tried to revoke its token',
    'O109',
    async (server, issued, garden) => {
      await post(server, REVOKE, server.apps.library, { token: issued.refresh_token });
      return sendRefresh(server, issued, garden);
    },
  ),
  afterConsent(
    'revoke: the successor of a refresh token after the revocation of the used one',
    'O105',
    async (server, issued, garden) => {
      const next = await mustRefresh(server, garden, issued.refresh_token);
      await post(server, REVOKE, garden, { token: issued.refresh_token });
      return sendRefresh(server, next, garden);
    },
  ),
];

/** An introspection of a new access token, with some parameters replaced. */
function introspect(name: string, proves: string, replaced: FormParameters = {}): Case {
  return afterConsent(`introspect: ${name}`, proves, (server, { access_token: token }, garden) =>
    post(server, INTROSPECT, garden, { token, ...replaced }),
  );
}

/** Values that must be equal on both servers, in addition to the names of the members. */
const readValues: Case['read'] = (body, { baseUrl, apps }) => ({
  members: Object.keys(body).toSorted(),
  active: body.active,
  scope: body.scope,
  client: body.client_id === apps.garden.clientId,
  issuer: body.iss === baseUrl,
  tokenType: body.token_type,
  seconds: Number(body.exp) - Number(body.iat),
});

const introspection: Case[] = [
  afterConsent(
    'introspect: a valid access token',
    'O111',
    (server, { access_token: token }, garden) => post(server, INTROSPECT, garden, { token }),
    readValues,
  ),
  afterConsent(
    'introspect: a valid refresh token',
    'O111',
    (server, { refresh_token: token }, garden) => post(server, INTROSPECT, garden, { token }),
    readValues,
  ),
  introspect('a wrong hint', 'O111', { token_type_hint: 'refresh_token' }),
  introspect('an unknown hint', 'O111', { token_type_hint: 'foo' }),
  introspect('an unknown token', 'O111', { token: 'unknown' }),
  introspect('token missing', 'O111', { token: undefined }),
  introspect('token twice', 'O111', { token: ['a', 'b'] }),
  introspect('a wrong secret', 'O111', { client_secret: 'wrong' }),
  introspect('no secret', 'O111', { client_secret: undefined }),
  introspect('no credentials', 'O111', { client_id: undefined, client_secret: undefined }),
  afterConsent(
    'introspect: a wrong secret in Basic',
    'O111',
    (server, { access_token: token }, garden) =>
      postForm(server, INTROSPECT, { token }, basic(garden.clientId, 'wrong')),
  ),
  afterConsent('introspect: by a public app', 'O111', async (server) => {
    const { pocket } = server.apps;
    const { access_token: token } = await newTokens(server, pocket);
    return post(server, INTROSPECT, pocket, { token });
  }),
  afterConsent('introspect: by a public app with an empty password in Basic', 'O111', (server) =>
    postForm(server, INTROSPECT, { token: 'x' }, basic(server.apps.pocket.clientId, '')),
  ),
  afterConsent('introspect: by another app', 'O112', (server, { access_token: token }) =>
    post(server, INTROSPECT, server.apps.library, { token }),
  ),
  afterConsent('introspect: an expired access token', 'O111', (server, issued, garden) => {
    server.advance(3601);
    return introspectAccessToken(server, issued, garden);
  }),
  afterConsent(
    'introspect: a used refresh token',
    'O111',
    async (server, { refresh_token: token }, garden) => {
      await mustRefresh(server, garden, token);
      return post(server, INTROSPECT, garden, { token });
    },
  ),
  afterConsent(
    'introspect: an access token after its refresh',
    'O103',
    async (server, issued, garden) => {
      await mustRefresh(server, garden, issued.refresh_token);
      return introspectAccessToken(server, issued, garden);
    },
  ),
  afterConsent('introspect: a token of a revoked grant', 'O111', async (server, issued, garden) => {
    await post(server, REVOKE, garden, { token: issued.refresh_token });
    return introspectAccessToken(server, issued, garden);
  }),
  afterConsent('introspect: the method GET', 'O111', (server) =>
    server.fetch(`${INTROSPECT}?token=x`),
  ),
];

/** Revocation and introspection (RFC 7009, RFC 7662). */
export const tokenManagementCases: readonly Case[] = [...revocation, ...introspection];
