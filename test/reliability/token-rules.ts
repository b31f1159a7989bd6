import type { Topic } from './topic.js';

export const TOKEN_REQUEST: Topic = {
  title: 'Token requests',
  rules: {
    O59: {
      rule: 'A valid exchange returns 200 with `access_token` (`svcat_` and 43 characters), `token_type` `Bearer`, `expires_in` 3600 as a number, `refresh_token` (`svcrt_…`) and `scope`, the granted scopes in their fixed order. All five are always present.',
      source: 'RFC 6749 §5.1',
    },
    O60: {
      rule: 'Every response of the token endpoint, success or error, is `application/json` with `Cache-Control: no-store`, `Pragma: no-cache` and `X-Content-Type-Options: nosniff`.',
      source: 'RFC 6749 §5.1',
    },
    O61: {
      rule: 'Any method but `POST` and `OPTIONS` returns 405 with `Allow: OPTIONS, POST` and a JSON body.',
      source: 'RFC 6749 §3.2',
    },
    O62: {
      rule: 'The body is `application/x-www-form-urlencoded` in UTF-8, with or without `charset` (`utf-8`, `utf8` or `us-ascii`). Other parameters of the content type are ignored. JSON, multipart, another charset, a missing content type or a missing body returns `invalid_request` and consumes nothing. An empty form names no client: see O108.',
      source: 'RFC 6749 §4.1.3',
    },
    O63: {
      rule: 'Parameters in the query of the URL are ignored. A `client_secret` there returns `invalid_request` (405 if the method is wrong, too), consumes nothing, and the description says that the secret must be rotated. If the secret is valid, the server writes an audit event, whatever else is wrong with the request.',
      source: 'RFC 6749 §2.3.1',
    },
    O64: {
      rule: 'A missing `grant_type` returns `invalid_request`. Any grant type but `authorization_code` and `refresh_token` returns `unsupported_grant_type`.',
      source: 'RFC 6749 §5.2',
    },
    O65: {
      rule: 'A known parameter that is repeated or in array syntax, a body that is not valid UTF-8, and more than 100 parameters return `invalid_request`. A body of more than 16,384 bytes returns 413 with the same error format.',
      source: 'RFC 6749 §3.2',
    },
    O66: {
      rule: 'An empty parameter is treated as missing. For example, `client_secret=` from a public app or `scope=` on a refresh returns 200.',
      source: 'RFC 6749 §3.2',
    },
    O67: {
      rule: 'Unknown parameters are ignored, even if repeated.',
      source: 'RFC 6749 §3.2',
    },
    O68: {
      rule: 'If the database is unreachable, overloaded or too slow, the response is 503 `temporarily_unavailable` with `Retry-After`. Any other internal error is 500 `server_error`. Neither is ever `invalid_grant` or `invalid_client`, which make clients delete their tokens. Nothing that a retry needs is consumed. The exception is a COMMIT that the database did not confirm: the response is 503, and the server does not retry. A retried refresh then gets the stored response for 30 seconds (O96). A retried exchange may return `invalid_grant`, because the code is used up. Pages show 503 or 500, and their form can be sent again: no message, attempt or one-time password is used up. A decision whose COMMIT was not confirmed may return 409; the user then starts again at the app.',
      source: 'RFC 6749 §5.2',
    },
  },
};

export const CODE_EXCHANGE: Topic = {
  title: 'Exchange of authorization codes',
  rules: {
    O69: {
      rule: 'A code is valid for five minutes. It is accepted at 4:59.999 and returns `invalid_grant` from 5:00 on. An unknown code, or another kind of credential, returns `invalid_grant`; a missing `code` returns `invalid_request`.',
      source: 'RFC 6749 §5.2',
    },
    O70: {
      rule: 'The code of another app returns `invalid_grant` and remains valid for its own app.',
      source: 'RFC 6749 §4.1.3',
    },
    O71: {
      rule: 'Failed client authentication returns 401 and does not consume the code.',
      source: 'RFC 6749 §5.2',
    },
    O72: {
      rule: 'A `redirect_uri` that differs from the one of the authorization request, even only in the loopback port, returns `invalid_grant` and consumes nothing.',
      source: 'RFC 6749 §4.1.3',
    },
    O73: {
      rule: 'A missing `redirect_uri` returns `invalid_request`.',
      source: 'RFC 6749 §4.1.3',
    },
    O74: {
      rule: 'If the authorization request had a `code_challenge`, a `code_verifier` that is missing or not 43 to 128 unreserved characters returns `invalid_request` and consumes nothing.',
      source: 'RFC 7636 §4.1; OAuth 2.1 draft §3.2.4',
    },
    O75: {
      rule: 'A well-formed `code_verifier` that does not match returns `invalid_grant` and consumes the code, so that an attacker has one guess.',
      source: 'RFC 7636 §4.6',
    },
    O76: {
      rule: 'A `code_verifier` without a `code_challenge` in the authorization request returns `invalid_request` and consumes nothing (PKCE downgrade).',
      source: 'RFC 9700 §4.8.2; OAuth 2.1 draft §3.2.4',
    },
    O77: {
      rule: 'Of 50 concurrent exchanges of one code in two processes, one returns tokens that work, and 49 return `invalid_grant`. One pair of tokens is stored, and no response is a 5xx.',
      source: 'RFC 6749 §4.1.2',
    },
    O78: {
      rule: 'An exchange that is repeated with the right parameters, 10 seconds or more after the first, returns `invalid_grant` and revokes the grant: access tokens return 401, refresh tokens `invalid_grant`. An earlier repetition is rejected and revokes nothing.',
      source: 'RFC 6749 §4.1.2; OAuth 2.1 draft §4.1.3',
    },
    O79: {
      rule: 'A used code with a wrong secret or verifier is rejected and revokes nothing, so that an attacker who read the code cannot end the grant.',
      source: 'OAuth 2.1 draft §7.5.2',
    },
    O80: {
      rule: 'If the user was blocked or deleted after the code was issued, the exchange returns `invalid_grant`. If the app was disabled, it returns 401 `invalid_client`.',
      source: 'RFC 6749 §5.2',
    },
  },
};

export const CLIENT_AUTHENTICATION: Topic = {
  title: 'Client authentication',
  rules: {
    O81: {
      rule: 'In HTTP Basic, `client_id` and secret may be form-encoded (`svc%5Fapp%5F…`), as RFC 6749 requires, or raw, as many clients send them.',
      source: 'RFC 6749 §2.3.1, Appendix B',
    },
    O82: {
      rule: '`client_id` and `client_secret` may be sent in the body instead.',
      source: 'OAuth 2.1 draft §2.4.1',
    },
    O83: {
      rule: 'Basic together with a secret or another `client_id` in the body, and two `Authorization` headers, return `invalid_request`. The same `client_id` in both places is accepted.',
      source: 'RFC 6749 §2.3',
    },
    O84: {
      rule: 'A wrong secret in Basic returns 401 `invalid_client` with `WWW-Authenticate: Basic realm="oauth", charset="UTF-8"`.',
      source: 'RFC 6749 §5.2',
    },
    O85: {
      rule: 'A wrong secret in the body returns 401 `invalid_client` without a challenge, which would prevent strict clients from reading the JSON.',
      source: 'RFC 6749 §5.2',
    },
    O86: {
      rule: 'An unknown `client_id` and a wrong secret return the same status, headers and bytes, after the same amount of work.',
      source: 'CWE-204; CWE-208',
    },
    O87: {
      rule: 'A malformed Basic header, such as one with invalid base64, no colon or control characters, returns 401 `invalid_client` with a challenge, whatever the form contains. Another scheme is ignored if the form has a `client_id`, because HTTP libraries add access tokens to every request; without a `client_id` it returns the same 401.',
      source: 'RFC 7617 §2',
    },
    O88: {
      rule: 'A confidential app without its secret gets 401 `invalid_client`, even with a valid `code_verifier`.',
      source: 'RFC 6749 §3.2.1',
    },
    O89: {
      rule: 'A public app is identified by `client_id` in the body, or by Basic with an empty password, which does not count as a failed attempt. With a secret it gets 401 `invalid_client`.',
      source: 'RFC 6749 §2.3',
    },
    O90: {
      rule: 'An app has at most two valid secrets at a time. Rotation sets the expiry of the old one (24 hours, or `--grace`); a third secret ends the first at once. A secret returns 401 from the millisecond of its revocation or expiry on. The last use of a secret is updated at most once a minute.',
      source: 'own',
    },
  },
};

export const REFRESH: Topic = {
  title: 'Refresh',
  rules: {
    O91: {
      rule: 'A valid refresh returns a new access token and always a new refresh token, with all scopes of the grant, for public and confidential apps. Beyond 120 refreshes of a grant in an hour, repeats included, it returns 429 `too_many_attempts` with `Retry-After` and consumes nothing. Each process counts in memory, exactly also under concurrency.',
      source: 'RFC 6749 §6; RFC 9700 §4.14.2',
    },
    O92: {
      rule: 'A missing `refresh_token` returns `invalid_request`. One that is unknown, expired or revoked, or another kind of credential, returns `invalid_grant`, whatever `scope` is requested.',
      source: 'RFC 6749 §5.2',
    },
    O93: {
      rule: 'The refresh token of another app returns `invalid_grant` and remains valid for its owner. The audit log names the app that sent it.',
      source: 'RFC 6749 §6',
    },
    O94: {
      rule: 'A smaller `scope` narrows the new access token, as `scope` in the response shows. The refresh token keeps all granted scopes. The scopes that count are those of the token, of the grant, without those withdrawn since, and of the app, at every request.',
      source: 'OAuth 2.1 draft §4.3.3',
    },
    O95: {
      rule: 'A `scope` that was not granted returns `invalid_scope` and consumes nothing. Scopes that were granted and no longer count are left out; if none is left, the response is `invalid_grant`.',
      source: 'RFC 6749 §6',
    },
    O96: {
      rule: 'A used refresh token that is sent again within 30 seconds, before its successor is used, returns the same two tokens: within two seconds of its first use every time, for two workers or tabs that refresh at once; later once, for a lost response, and every time within two seconds of this late repeat, for workers that repeat at once. A late repeat is possible again after a refresh without one. `expires_in` is the remaining time, rounded up to seconds. If the repeated request has another `scope` than the first, it returns `invalid_scope`, which revokes nothing and does not count as the late repeat.',
      source: 'own',
    },
    O97: {
      rule: 'A used refresh token that is sent again after 30 seconds, after its successor was used, after the access token of the response was revoked, later than two seconds after its late repeat, or later than two seconds after its first use although the refresh before had a late repeat, too, returns `invalid_grant` and revokes the grant: the newest refresh token is invalid, and every access token returns 401. The audit log and a metric record it. So a thief who refreshes some seconds before or after the app is detected in the second round, and a thief who revokes the new access token in the first. The rule applies to a blocked user, too, but not if another app sends the token.',
      source: 'RFC 9700 §4.14.2',
    },
    O98: {
      rule: 'Only the direct predecessor of the current token can be repeated. If R1 was replaced by R2 and R2 by R3, R1 revokes the grant, even within two seconds of its use.',
      source: 'RFC 9700 §4.14.2',
    },
    O99: {
      rule: 'Every refresh token of a revoked grant returns `invalid_grant`, including one that could otherwise be repeated.',
      source: 'own',
    },
    O100: {
      rule: '50 concurrent refreshes of one token in two processes are one race: all return 200 and the same two tokens, also if they repeat a lost refresh. One new refresh token is stored, no response is a 5xx, and the grant remains valid.',
      source: 'own',
    },
    O101: {
      rule: 'If the process is killed during a refresh, before its COMMIT, nothing of the refresh is stored: the old refresh token still works in the next process.',
      source: 'own',
    },
    O102: {
      rule: 'A refresh token expires after 30 days without use. No refresh extends access beyond 180 days after the grant.',
      source: 'OAuth 2.1 draft §4.3.3',
    },
    O103: {
      rule: 'A refresh does not end earlier access tokens: each remains valid until it expires or is revoked, or its grant ends.',
      source: 'own',
    },
    O104: {
      rule: 'If the user removes the app or is blocked, the next refresh returns `invalid_grant`. If the operator disables the app, it returns 401 `invalid_client`. The next API call returns 401: nothing is cached.',
      source: 'OAuth 2.1 draft §7.9',
    },
  },
};

export const REVOCATION_AND_INTROSPECTION: Topic = {
  title: 'Revocation and introspection',
  rules: {
    O105: {
      rule: 'Revoking a refresh token, the current or a used one, returns 200 with `{}` and ends the whole grant. If a refresh runs concurrently, no token of the grant is valid afterwards, whichever came first.',
      source: 'RFC 7009 §2.1, §2.2',
    },
    O106: {
      rule: 'Revoking an access token returns 200. API calls with it return 401 at once, and the refresh token remains valid.',
      source: 'RFC 7009 §2.1',
    },
    O107: {
      rule: 'Revoking a token that is unknown, expired or revoked returns 200. A wrong or unknown `token_type_hint` is ignored: the token is found anyway.',
      source: 'RFC 7009 §2.1, §2.2',
    },
    O108: {
      rule: 'A revocation without `token` returns `invalid_request`, a wrong secret 401 `invalid_client`, and any method but `POST` and `OPTIONS` 405. At the token, revocation and introspection endpoints, a form that names no client returns 401 `invalid_client`, without a challenge, and its description says which parameters to send.',
      source: 'RFC 7009 §2.1',
    },
    O109: {
      rule: 'Revoking the token of another app returns 400 `invalid_request`, and the token remains valid. A public app revokes its own tokens by its `client_id`.',
      source: 'RFC 7009 §2.1',
    },
    O110: {
      rule: 'Throttled revocation returns 503 with `Retry-After` instead of 429, so that the client knows that the token is still valid.',
      source: 'RFC 7009 §2.2.1',
    },
    O111: {
      rule: 'Introspection requires the credentials of a confidential app; otherwise it returns 401 `invalid_client`. A valid token returns `active`, `scope`, `client_id`, `sub` (the id of the user, never the phone), `exp`, `iat`, `iss` and, for access tokens, `token_type`. Anything else returns exactly `{"active":false}`.',
      source: 'RFC 7662 §2.1, §2.2',
    },
    O112: {
      rule: 'An app can introspect its own tokens only: those of others return `{"active":false}`.',
      source: 'RFC 7662 §4',
    },
  },
};

export const BEARER: Topic = {
  title: 'Access tokens at the API',
  rules: {
    O113: {
      rule: 'A call without a token returns 401 with a `WWW-Authenticate: Bearer` challenge without `error`, before its body is read.',
      source: 'RFC 6750 §3.1',
    },
    O114: {
      rule: 'A token that is malformed, unknown, in the wrong letter case, expired, revoked, of a disabled app or of a blocked user, and any other kind of credential, returns 401 with `error="invalid_token"` and a JSON body, never 403 or 500.',
      source: 'RFC 6750 §3.1',
    },
    O115: {
      rule: 'A valid token without the scope of the endpoint returns 403 with `error="insufficient_scope"` and the missing `scope`. An expired token without the scope returns 401.',
      source: 'RFC 6750 §3.1',
    },
    O116: {
      rule: 'Tokens are read from the `Authorization` header only: one in the query or the body is treated as missing. Together with the header, a token in the query returns 400 `invalid_request`, as do two `Authorization` headers; one in a form body returns 415, as any form does.',
      source: 'RFC 6750 §2, §3.1; OAuth 2.1 draft §5.1',
    },
    O117: {
      rule: 'The scheme `Bearer` is case-insensitive.',
      source: 'RFC 9110 §11.1',
    },
    O118: {
      rule: 'If the server cannot look up a token because the database is unavailable, the API returns 503, never 401.',
      source: 'own',
    },
    O119: {
      rule: 'To check a token, the server executes one statement, which reads token, grant, app, user and quota by their indexes, and writes nothing. The last use of a grant is written in the background, at most once a minute.',
      source: 'own',
    },
  },
};
