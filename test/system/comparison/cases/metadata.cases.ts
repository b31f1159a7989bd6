// Each case is sent to both servers; the test compares the responses.

import type { Case } from '../tested-server.js';

const PATH = '/.well-known/oauth-authorization-server';

/** The members by which a client configures itself. The URL of an endpoint is compared without the issuer at its start. */
const read: Case['read'] = (body, { baseUrl }) => {
  const pathOf = (name: string): unknown => String(body[name]).replace(baseUrl, '');
  const sorted = (name: string): unknown => (body[name] as string[]).toSorted();
  return {
    issuer: body.issuer === baseUrl,
    authorize: pathOf('authorization_endpoint'),
    token: pathOf('token_endpoint'),
    revoke: pathOf('revocation_endpoint'),
    introspect: pathOf('introspection_endpoint'),
    responseTypes: sorted('response_types_supported'),
    grantTypes: sorted('grant_types_supported'),
    authenticationMethods: sorted('token_endpoint_auth_methods_supported'),
    challengeMethods: sorted('code_challenge_methods_supported'),
    scopes: sorted('scopes_supported'),
    issuerInResponse: body.authorization_response_iss_parameter_supported,
  };
};

/** The metadata of the authorization server (RFC 8414). */
export const metadataCases: readonly Case[] = [
  { name: 'metadata: the document', proves: 'O120', send: (server) => server.fetch(PATH), read },
  {
    name: 'metadata: another host name',
    proves: 'O120',
    send: (server) => server.fetch(PATH, { headers: { 'x-forwarded-host': 'evil.example' } }),
    read,
  },
  {
    name: 'metadata: the method POST',
    proves: undefined,
    send: (server) => server.fetch(PATH, { method: 'POST' }),
  },
];
