// Each case is sent to both servers; the test compares the responses.

import type { TokenBody } from '../../../support/responses.js';
import {
  basic,
  type Case,
  exchange,
  flow,
  type FormParameters,
  introspect,
  postForm,
  refresh,
  refreshNewest,
  revoke,
  type Step,
  wait,
  withWrongBasic,
} from '../tested-server.js';

const REVOKE = '/oauth/revoke';
const INTROSPECT = '/oauth/introspect';
const NO_CREDENTIALS = { client_id: undefined, client_secret: undefined };

const accessToken = ({ access_token: token }: TokenBody): FormParameters => ({ token });
const refreshToken = ({ refresh_token: token }: TokenBody): FormParameters => ({ token });

/** Steps after the exchange of a code. */
const after = (
  name: string,
  proves: string,
  steps: readonly Step[],
  options?: Parameters<typeof flow>[3],
): Case => flow(name, proves, [exchange(), ...steps], options);

const withHint = (token_type_hint: string): FormParameters => ({ token_type_hint });

const revocation: Case[] = [
  after('revoke: a refresh token', 'O105', [revoke()]),
  after('revoke: an access token', 'O106', [revoke(accessToken)]),
  after('revoke: an unknown token', 'O107', [revoke({ token: 'unknown' })]),
  after('revoke: an unknown hint', 'O107', [revoke(withHint('foo'))]),
  after('revoke: token missing', 'O108', [revoke({ token: undefined })]),
  after('revoke: token empty', 'O108', [revoke({ token: '' })]),
  after('revoke: token twice', 'O108', [revoke({ token: ['a', 'b'] })]),
  after('revoke: a wrong secret', 'O108', [revoke({ client_secret: 'wrong' })]),
  after('revoke: a wrong secret in Basic', 'O108', [withWrongBasic(REVOKE)]),
  after('revoke: no secret', 'O108', [revoke({ client_secret: undefined })]),
  after('revoke: no credentials', 'O108', [revoke(NO_CREDENTIALS)]),
  after('revoke: the same token in two successive requests', 'O107', [revoke(), revoke()]),
  after('revoke: the token of another app', 'O109', [revoke({}, 'library')]),
  after('revoke: the token of another app, by a public app', 'O109', [revoke({}, 'pocket')]),
  after('revoke: a refresh after the revocation of its token', 'O105', [revoke(), refresh()]),
  after('revoke: a refresh after the revocation of its token with a wrong hint', 'O107', [
    revoke(withHint('access_token')),
    refresh(),
  ]),
  after('revoke: the access token after the revocation of the refresh token', 'O105', [
    revoke(),
    introspect(),
  ]),
  after('revoke: a refresh after the revocation of the access token', 'O106', [
    revoke(accessToken),
    refresh(),
  ]),
  after('revoke: the access token after its revocation with a wrong hint', 'O107', [
    revoke((first) => ({ ...accessToken(first), ...withHint('refresh_token') })),
    introspect(),
  ]),
  after('revoke: a refresh after another app tried to revoke its token', 'O109', [
    revoke({}, 'library'),
    refresh(),
  ]),
  after('revoke: the successor of a refresh token after the revocation of the used one', 'O105', [
    refresh(),
    revoke(),
    refreshNewest,
  ]),
  {
    name: 'revoke: the method GET',
    proves: 'O108',
    send: (server) => server.fetch(`${REVOKE}?token=x`),
  },
  {
    name: 'revoke: a JSON body',
    proves: 'O108',
    send(server) {
      const headers = { 'content-type': 'application/json' };
      return server.fetch(REVOKE, { method: 'POST', headers, body: '{"token":"x"}' });
    },
  },
];

/** Values that must be equal on both servers, in addition to the names of the members. */
const read: Case['read'] = (body, { baseUrl, apps }) => ({
  members: Object.keys(body).toSorted(),
  active: body.active,
  scope: body.scope,
  client: body.client_id === apps.garden.clientId,
  issuer: body.iss === baseUrl,
  tokenType: body.token_type,
  seconds: Number(body.exp) - Number(body.iat),
});

const introspection: Case[] = [
  after('introspect: a valid access token', 'O111', [introspect()], { read }),
  after('introspect: a valid refresh token', 'O111', [introspect(refreshToken)], { read }),
  after('introspect: a wrong hint', 'O111', [introspect(withHint('refresh_token'))]),
  after('introspect: an unknown hint', 'O111', [introspect(withHint('foo'))]),
  after('introspect: an unknown token', 'O111', [introspect({ token: 'unknown' })]),
  after('introspect: token missing', 'O111', [introspect({ token: undefined })]),
  after('introspect: token twice', 'O111', [introspect({ token: ['a', 'b'] })]),
  after('introspect: a wrong secret', 'O111', [introspect({ client_secret: 'wrong' })]),
  after('introspect: a wrong secret in Basic', 'O111', [withWrongBasic(INTROSPECT)]),
  after('introspect: no secret', 'O111', [introspect({ client_secret: undefined })]),
  after('introspect: no credentials', 'O111', [introspect(NO_CREDENTIALS)]),
  after('introspect: by a public app', 'O111', [introspect()], { app: 'pocket' }),
  after('introspect: by another app', 'O112', [introspect({}, 'library')]),
  after('introspect: an expired access token', 'O111', [wait(3601), introspect()]),
  after('introspect: a used refresh token', 'O111', [refresh(), introspect(refreshToken)]),
  after('introspect: an access token after its refresh', 'O103', [refresh(), introspect()]),
  after('introspect: a token of a revoked grant', 'O111', [revoke(), introspect()]),
  {
    name: 'introspect: by a public app with an empty password in Basic',
    proves: 'O111',
    send: (server) =>
      postForm(server, INTROSPECT, { token: 'x' }, basic(server.apps.pocket.clientId, '')),
  },
  {
    name: 'introspect: the method GET',
    proves: 'O111',
    send: (server) => server.fetch(`${INTROSPECT}?token=x`),
  },
];

/** Revocation and introspection (RFC 7009, RFC 7662). */
export const tokenManagementCases: readonly Case[] = [...revocation, ...introspection];
