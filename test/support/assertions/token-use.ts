import type { Topic } from './topic.js';

export const REVOCATION_AND_INTROSPECTION: Topic = {
  title: 'Revocation and introspection',
  rules: {
    O105: {
      rule: 'An app that revokes a refresh token of its own, the current or an already used one, gets 200 with `{}` and the whole grant ends. When a refresh of it runs at the same moment, no token of the grant lives after both, whichever came first.',
      source: 'RFC 7009 §2.1, §2.2',
    },
    O106: {
      rule: 'An app that revokes an access token of its own gets 200. That token gets 401 at once, and the refresh token lives on.',
      source: 'RFC 7009 §2.1',
    },
    O107: {
      rule: 'A token that is unknown, expired or revoked gets 200. A `token_type_hint` that is wrong or unknown changes nothing: the token is found all the same.',
      source: 'RFC 7009 §2.1, §2.2',
    },
    O108: {
      rule: 'Without `token` the answer is `invalid_request`, with a wrong secret 401 `invalid_client`, and any method but `POST` and `OPTIONS` gets 405. At all three endpoints, a form that names no client is 401 `invalid_client`, without a challenge and with a description of what to send.',
      source: 'RFC 7009 §2.1',
    },
    O109: {
      rule: 'The token of another app is 400 `invalid_request` and lives on. A public app revokes its own tokens by its `client_id`.',
      source: 'RFC 7009 §2.1',
    },
    O110: {
      rule: 'Throttled revocation is 503 with `Retry-After` in place of 429, so that the client knows that the token still lives.',
      source: 'RFC 7009 §2.2.1',
    },
    O111: {
      rule: 'Introspection needs the credentials of a confidential app, else it is 401 `invalid_client`. A live token is told with `active`, `scope`, `client_id`, `sub` (the id of the user, never the phone), `exp`, `iat`, `iss` and, for access tokens, `token_type`; anything else is exactly `{"active":false}`.',
      source: 'RFC 7662 §2.1, §2.2',
    },
    O112: {
      rule: 'An app learns about its own tokens only: those of others are `{"active":false}`.',
      source: 'RFC 7662 §4',
    },
  },
};

export const BEARER: Topic = {
  title: 'Access tokens at the API',
  rules: {
    O113: {
      rule: 'A call without a token gets 401 and a `WWW-Authenticate: Bearer` challenge that names no `error`, before its body is looked at.',
      source: 'RFC 6750 §3.1',
    },
    O114: {
      rule: 'A token that is malformed, unknown, in another letter case, expired or revoked, one of a disabled app or blocked user, and any other kind of credential gets 401 with `error="invalid_token"` and a JSON body, never 403 or 500.',
      source: 'RFC 6750 §3.1',
    },
    O115: {
      rule: 'A good token without the scope of the endpoint gets 403 with `error="insufficient_scope"` and the missing `scope`. One that is expired and too narrow gets 401.',
      source: 'RFC 6750 §3.1',
    },
    O116: {
      rule: 'Tokens are taken from the `Authorization` header alone: one only in the query or the body counts as none. Beside the header, one in the query is 400 `invalid_request`, as two `Authorization` headers are, and one in a form body is 415 with the form.',
      source: 'RFC 6750 §2, §3.1; OAuth 2.1 draft §5.1',
    },
    O117: {
      rule: 'The scheme `Bearer` may be written in any letter case.',
      source: 'RFC 9110 §11.1',
    },
    O118: {
      rule: 'When tokens cannot be looked up because the database is away, the API answers 503, never 401.',
      source: 'own',
    },
    O119: {
      rule: 'A token costs one statement, which reads token, grant and app by their indexes, and no write. When a grant was last used is written beside the requests, at most once a minute.',
      source: 'own',
    },
  },
};

export const METADATA_AND_BROWSER_APPS: Topic = {
  title: 'Metadata and browser apps (CORS)',
  rules: {
    O120: {
      rule: '`/.well-known/oauth-authorization-server` lists the endpoints, `code` as the only response type, the two grant types, `client_secret_basic`, `client_secret_post` and `none`, `S256`, the scopes, and that redirects carry `iss`. Its `issuer` is the configured one, whatever `Host` or `X-Forwarded-Host` say.',
      source: 'RFC 8414 §2, §3; RFC 9207 §3',
    },
    O121: {
      rule: 'Everything that the metadata lists works, and what it does not list is refused: other response types and modes, grant types and challenge methods, request objects, and endpoints such as `/oauth/register`, which is 404.',
      source: 'RFC 8414',
    },
    O122: {
      rule: 'Every origin may read the metadata (`Access-Control-Allow-Origin: *`), and caches may keep them for an hour.',
      source: 'RFC 9700 §2.6',
    },
    O123: {
      rule: 'A preflight of the token or revocation endpoint gets 204. When the `Origin` is that of a redirect URI of an enabled public app, it is allowed to send `POST` with `Authorization`, `Content-Type` and `X-Requested-With`; a loopback redirect stands for each of its ports. `Vary: Origin` is always sent. Introspection and the authorization endpoint allow no origin.',
      source: 'Fetch standard, CORS; OAuth 2.1 draft §3.2',
    },
    O124: {
      rule: 'A call from such an origin may be read, also when it is a 400, 401 or 429, and shows `WWW-Authenticate` and `Retry-After`, unless it names an app other than a public one of this origin. Cookies never count: `Access-Control-Allow-Credentials` is never sent.',
      source: 'RFC 9700 §2.6',
    },
    O125: {
      rule: 'Any other origin, `Origin: null`, and calls of confidential apps get no `Access-Control-Allow-Origin`.',
      source: 'own',
    },
  },
};
