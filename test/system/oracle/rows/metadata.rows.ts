import type { Row } from '../tested-server.js';

const PATH = '/.well-known/oauth-authorization-server';

/** The members that configure a client. The address of an endpoint must be below the issuer. */
const read: Row['read'] = (body, { baseUrl }) => {
  const path = (name: string): unknown => String(body[name]).replace(baseUrl, '');
  const list = (name: string): unknown => (body[name] as string[]).toSorted();
  return {
    issuer: body.issuer === baseUrl,
    authorize: path('authorization_endpoint'),
    token: path('token_endpoint'),
    revoke: path('revocation_endpoint'),
    introspect: path('introspection_endpoint'),
    responseTypes: list('response_types_supported'),
    grantTypes: list('grant_types_supported'),
    methods: list('token_endpoint_auth_methods_supported'),
    challenges: list('code_challenge_methods_supported'),
    scopes: list('scopes_supported'),
    issuerInResponse: body.authorization_response_iss_parameter_supported,
  };
};

/** The metadata of the authorization server (RFC 8414). */
export const metadataRows: readonly Row[] = [
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
