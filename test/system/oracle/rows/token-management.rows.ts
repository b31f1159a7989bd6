import type { TokenBody } from '../../../support/responses.js';
import type { TestClient } from '../../../support/test-app.js';
import {
  basic,
  type Parameters,
  type Party,
  post,
  postAs,
  refreshed,
  refreshForm,
  type Row,
  tokens,
} from '../party.js';

const REVOKE = '/oauth/revoke';
const INTROSPECT = '/oauth/introspect';

type Ask = (party: Party, given: TokenBody, garden: TestClient) => Promise<Response>;

/** A request with the tokens of a fresh consent to `garden`. */
function row(name: string, proves: string, ask: Ask, read?: Row['read']): Row {
  return {
    name,
    proves,
    ask: async (party) => ask(party, await tokens(party, party.apps.garden), party.apps.garden),
    ...(read && { read }),
  };
}

/** The refresh token is revoked with some parameters replaced. */
function revoke(name: string, proves: string, replaced: Parameters = {}): Row {
  return row(`revoke: ${name}`, proves, (party, { refresh_token: token }, garden) =>
    post(party, REVOKE, garden, { token, ...replaced }),
  );
}

/** What is left after `form` was revoked: the answer to `look`. */
function afterRevoking(
  name: string,
  proves: string,
  form: (given: TokenBody) => Parameters,
  look: Ask,
): Row {
  return row(`revoke: ${name}`, proves, async (party, given, garden) => {
    await post(party, REVOKE, garden, form(given));
    return look(party, given, garden);
  });
}

const refreshing: Ask = (party, { refresh_token: value }, garden) =>
  post(party, '/oauth/token', garden, refreshForm(value));
const introspecting: Ask = (party, { access_token: token }, garden) =>
  post(party, INTROSPECT, garden, { token });

const revocation: Row[] = [
  revoke('a refresh token', 'O105'),
  revoke('an unknown token', 'O107', { token: 'unknown' }),
  revoke('an unknown hint', 'O107', { token_type_hint: 'foo' }),
  revoke('token missing', 'O108', { token: undefined }),
  revoke('token empty', 'O108', { token: '' }),
  revoke('token twice', 'O108', { token: ['a', 'b'] }),
  revoke('a wrong secret', 'O108', { client_secret: 'wrong' }),
  revoke('no secret', 'O108', { client_secret: undefined }),
  revoke('nobody', 'O108', { client_id: undefined, client_secret: undefined }),
  row('revoke: an access token', 'O106', (party, { access_token: token }, garden) =>
    post(party, REVOKE, garden, { token }),
  ),
  row('revoke: a wrong secret in Basic', 'O108', (party, { access_token: token }, garden) =>
    postAs(party, REVOKE, { token }, basic(garden.clientId, 'wrong')),
  ),
  row('revoke: a token twice, one after the other', 'O107', async (party, given, garden) => {
    await post(party, REVOKE, garden, { token: given.refresh_token });
    return post(party, REVOKE, garden, { token: given.refresh_token });
  }),
  row('revoke: the token of another app', 'O109', (party, { refresh_token: token }) =>
    post(party, REVOKE, party.apps.library, { token }),
  ),
  row(
    'revoke: the token of another app, by a public one',
    'O109',
    (party, { refresh_token: token }) => post(party, REVOKE, party.apps.pocket, { token }),
  ),
  row('revoke: the method GET', 'O108', (party) => party.fetch(`${REVOKE}?token=x`)),
  row('revoke: a JSON body', 'O108', (party) =>
    party.fetch(REVOKE, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"token":"x"}',
    }),
  ),
  afterRevoking(
    'refresh after its token',
    'O105',
    (given) => ({ token: given.refresh_token }),
    refreshing,
  ),
  afterRevoking(
    'refresh after its token, with a wrong hint',
    'O107',
    (given) => ({ token: given.refresh_token, token_type_hint: 'access_token' }),
    refreshing,
  ),
  afterRevoking(
    'access token after the refresh token',
    'O105',
    (given) => ({ token: given.refresh_token }),
    introspecting,
  ),
  afterRevoking(
    'refresh after the access token',
    'O106',
    (given) => ({ token: given.access_token }),
    refreshing,
  ),
  afterRevoking(
    'access token after itself, with a wrong hint',
    'O107',
    (given) => ({ token: given.access_token, token_type_hint: 'refresh_token' }),
    introspecting,
  ),
  row('revoke: refresh after another app tried', 'O109', async (party, given, garden) => {
    await post(party, REVOKE, party.apps.library, { token: given.refresh_token });
    return refreshing(party, given, garden);
  }),
  row('revoke: the successor after a used refresh token', 'O105', async (party, given, garden) => {
    const next = await refreshed(party, garden, given.refresh_token);
    await post(party, REVOKE, garden, { token: given.refresh_token });
    return refreshing(party, next, garden);
  }),
];

/** The access token is looked at with some parameters replaced. */
function introspect(name: string, proves: string, replaced: Parameters = {}): Row {
  return row(`introspect: ${name}`, proves, (party, { access_token: token }, garden) =>
    post(party, INTROSPECT, garden, { token, ...replaced }),
  );
}

/** Values that are the same on both servers, beside the members' names. */
const values: Row['read'] = (body, { baseUrl, apps }) => ({
  members: Object.keys(body).toSorted(),
  active: body.active,
  scope: body.scope,
  client: body.client_id === apps.garden.clientId,
  issuer: body.iss === baseUrl,
  tokenType: body.token_type,
  seconds: Number(body.exp) - Number(body.iat),
});

const introspection: Row[] = [
  row(
    'introspect: a live access token',
    'O111',
    (party, { access_token: token }, garden) => post(party, INTROSPECT, garden, { token }),
    values,
  ),
  row(
    'introspect: a live refresh token',
    'O111',
    (party, { refresh_token: token }, garden) => post(party, INTROSPECT, garden, { token }),
    values,
  ),
  introspect('a wrong hint', 'O111', { token_type_hint: 'refresh_token' }),
  introspect('an unknown hint', 'O111', { token_type_hint: 'foo' }),
  introspect('an unknown token', 'O111', { token: 'unknown' }),
  introspect('token missing', 'O111', { token: undefined }),
  introspect('token twice', 'O111', { token: ['a', 'b'] }),
  introspect('a wrong secret', 'O111', { client_secret: 'wrong' }),
  introspect('no secret', 'O111', { client_secret: undefined }),
  introspect('nobody', 'O111', { client_id: undefined, client_secret: undefined }),
  row('introspect: a wrong secret in Basic', 'O111', (party, { access_token: token }, garden) =>
    postAs(party, INTROSPECT, { token }, basic(garden.clientId, 'wrong')),
  ),
  row('introspect: by a public app', 'O111', async (party) => {
    const { pocket } = party.apps;
    const { access_token: token } = await tokens(party, pocket);
    return post(party, INTROSPECT, pocket, { token });
  }),
  row('introspect: by a public app with an empty password in Basic', 'O111', (party) =>
    postAs(party, INTROSPECT, { token: 'x' }, basic(party.apps.pocket.clientId, '')),
  ),
  row('introspect: by another app', 'O112', (party, { access_token: token }) =>
    post(party, INTROSPECT, party.apps.library, { token }),
  ),
  row('introspect: an expired access token', 'O111', (party, given, garden) => {
    party.advance(3601);
    return introspecting(party, given, garden);
  }),
  row(
    'introspect: a used refresh token',
    'O111',
    async (party, { refresh_token: token }, garden) => {
      await refreshed(party, garden, token);
      return post(party, INTROSPECT, garden, { token });
    },
  ),
  row('introspect: an access token after its refresh', 'O103', async (party, given, garden) => {
    await refreshed(party, garden, given.refresh_token);
    return introspecting(party, given, garden);
  }),
  row('introspect: a token of a revoked grant', 'O111', async (party, given, garden) => {
    await post(party, REVOKE, garden, { token: given.refresh_token });
    return introspecting(party, given, garden);
  }),
  row('introspect: the method GET', 'O111', (party) => party.fetch(`${INTROSPECT}?token=x`)),
];

/** Revocation and introspection (RFC 7009, RFC 7662). */
export const tokenManagementRows: readonly Row[] = [...revocation, ...introspection];
