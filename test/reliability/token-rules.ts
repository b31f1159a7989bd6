import type { Topic } from './topic.js';

export const TOKEN_REQUEST: Topic = {
  title: 'Token requests',
  rules: {
    O59: {
      rule: 'A valid exchange answers 200 with `access_token` (`svcat_` and 43 characters), `token_type` `Bearer`, `expires_in` 3600 as a number, `refresh_token` (`svcrt_…`) and `scope`, the granted scopes in their fixed order. All five are always there.',
      source: 'RFC 6749 §5.1',
    },
    O60: {
      rule: 'Every answer, good or bad, is `application/json` with `Cache-Control: no-store`, `Pragma: no-cache` and `X-Content-Type-Options: nosniff`.',
      source: 'RFC 6749 §5.1',
    },
    O61: {
      rule: 'Any method but `POST` and `OPTIONS` gets 405 with `Allow: OPTIONS, POST` and a JSON body.',
      source: 'RFC 6749 §3.2',
    },
    O62: {
      rule: 'The body is `application/x-www-form-urlencoded` in UTF-8, with or without a `charset`. JSON, multipart, another character set, no content type or no body is `invalid_request` and spends nothing. An empty form names no client, which is O108.',
      source: 'RFC 6749 §4.1.3',
    },
    O63: {
      rule: "Parameters in the URL's query are not read. A `client_secret` there is `invalid_request` (405 where the method is wrong, too), spends nothing, and says that it must be rotated. When it is a live secret, the audit log tells the operators, whatever else is wrong with the request.",
      source: 'RFC 6749 §2.3.1',
    },
    O64: {
      rule: 'Without `grant_type` the answer is `invalid_request`; any other grant than `authorization_code` and `refresh_token` is `unsupported_grant_type`.',
      source: 'RFC 6749 §5.2',
    },
    O65: {
      rule: 'A known parameter twice or in array syntax, a body that is not well-formed UTF-8, and more than 100 parameters are `invalid_request`. A body over 16,384 bytes gets 413 in the same shape.',
      source: 'RFC 6749 §3.2',
    },
    O66: {
      rule: 'An empty parameter counts as one that was not sent, such as `client_secret=` from a public app or `scope=` on a refresh: the answer is 200.',
      source: 'RFC 6749 §3.2',
    },
    O67: {
      rule: 'Parameters that the server does not know are ignored, even when they come twice.',
      source: 'RFC 6749 §3.2',
    },
    O68: {
      rule: 'When the database is unreachable, overloaded or too slow, the response is 503 `temporarily_unavailable` with `Retry-After`; any other fault of ours is 500 `server_error`. It is never `invalid_grant` or `invalid_client`, on which clients delete their tokens, and nothing is spent that the same request would need: it works afterwards. The exception is a COMMIT that the database did not confirm: the response is 503 and the request is never repeated by the service. A repeated refresh then gets the stored response within its 30 seconds. A code may be spent, and is `invalid_grant`. Pages say 503 or 500, and their form can be sent again: no message, guess or one-time password is used up. A decision whose COMMIT was not confirmed may get 409; the user starts again at the app.',
      source: 'RFC 6749 §5.2',
    },
  },
};

export const CODE_EXCHANGE: Topic = {
  title: 'Exchange of authorization codes',
  rules: {
    O69: {
      rule: 'A code works until 4:59.999 after it was issued. From 5:00 on, or when it is unknown or another kind of credential, it is `invalid_grant`; without `code` the answer is `invalid_request`.',
      source: 'RFC 6749 §5.2',
    },
    O70: {
      rule: 'The code of one app is `invalid_grant` for another one that authenticated, and its own app can still exchange it.',
      source: 'RFC 6749 §4.1.3',
    },
    O71: {
      rule: 'Failed client authentication gets 401 and spends no code.',
      source: 'RFC 6749 §5.2',
    },
    O72: {
      rule: 'A `redirect_uri` other than the one of the authorization request, be it only in the loopback port, is `invalid_grant` and spends nothing.',
      source: 'RFC 6749 §4.1.3',
    },
    O73: {
      rule: 'A missing `redirect_uri` is `invalid_request`.',
      source: 'RFC 6749 §4.1.3',
    },
    O74: {
      rule: 'Where a challenge was sent, a `code_verifier` that is missing or not 43 to 128 unreserved characters is `invalid_request` and spends nothing.',
      source: 'RFC 7636 §4.1; OAuth 2.1 draft §3.2.4',
    },
    O75: {
      rule: 'A well-formed `code_verifier` that does not match is `invalid_grant` and spends the code, so nobody guesses twice.',
      source: 'RFC 7636 §4.6',
    },
    O76: {
      rule: 'A `code_verifier` where no challenge was sent is `invalid_request` and spends nothing (PKCE downgrade).',
      source: 'RFC 9700 §4.8.2; OAuth 2.1 draft §3.2.4',
    },
    O77: {
      rule: 'Of 50 exchanges of one code at the same moment in two processes, one gets tokens, which work, and 49 get `invalid_grant`. One pair of tokens is stored, and no answer is a 5xx.',
      source: 'RFC 6749 §4.1.2',
    },
    O78: {
      rule: 'A complete repetition of a code 10 seconds or more after its use is `invalid_grant` and revokes its grant: access tokens get 401, refresh tokens `invalid_grant`. A repetition before that is rejected and revokes nothing.',
      source: 'RFC 6749 §4.1.2; OAuth 2.1 draft §4.1.3',
    },
    O79: {
      rule: 'A used code that comes back with a wrong secret or verifier is refused and ends nothing, so a stranger who read the code cannot end the grant.',
      source: 'OAuth 2.1 draft §7.5.2',
    },
    O80: {
      rule: 'When the user was blocked or deleted after the code was issued, it is `invalid_grant`; when the app was disabled, 401 `invalid_client`.',
      source: 'RFC 6749 §5.2',
    },
  },
};

export const CLIENT_AUTHENTICATION: Topic = {
  title: 'Client authentication',
  rules: {
    O81: {
      rule: 'In HTTP Basic, `client_id` and secret may be form-encoded (`svc%5Fapp%5F…`), as RFC 6749 wants, or raw, as many clients send them.',
      source: 'RFC 6749 §2.3.1, Appendix B',
    },
    O82: {
      rule: '`client_id` and `client_secret` may come in the body instead.',
      source: 'OAuth 2.1 draft §2.4.1',
    },
    O83: {
      rule: 'Basic together with a secret in the body, or with another `client_id` there, and two `Authorization` headers are `invalid_request`. The same `client_id` in both places is fine.',
      source: 'RFC 6749 §2.3',
    },
    O84: {
      rule: 'A wrong secret in Basic is 401 `invalid_client` with `WWW-Authenticate: Basic realm="oauth", charset="UTF-8"`.',
      source: 'RFC 6749 §5.2',
    },
    O85: {
      rule: 'A wrong secret in the body is 401 `invalid_client` without a challenge, which would keep strict clients from reading the JSON.',
      source: 'RFC 6749 §5.2',
    },
    O86: {
      rule: 'An unknown `client_id` and a wrong secret get the same status, headers and bytes, after as much work.',
      source: 'CWE-204; CWE-208',
    },
    O87: {
      rule: 'A malformed `Authorization` header, such as another scheme, no base64, no colon or control characters, is 401 `invalid_client` with a challenge.',
      source: 'RFC 7617 §2',
    },
    O88: {
      rule: 'A confidential app without its secret is 401 `invalid_client`, also with a valid `code_verifier`.',
      source: 'RFC 6749 §3.2.1',
    },
    O89: {
      rule: 'A public app is named by `client_id` in the body, or by Basic with an empty password, which counts as no failed attempt. With a secret it is 401 `invalid_client`.',
      source: 'RFC 6749 §2.3',
    },
    O90: {
      rule: 'An app has at most two live secrets, and both work. Rotation gives the old one an end (24 hours, or what `--grace` says), a third ends the first at once, and a revoked or expired one is 401 from that millisecond on. The last use of a secret is noted at most once a minute.',
      source: 'own',
    },
  },
};

export const REFRESH: Topic = {
  title: 'Refresh',
  rules: {
    O91: {
      rule: 'A valid refresh gives every kind of app a new access token and, always, a new refresh token, with all scopes of the grant.',
      source: 'RFC 6749 §6; RFC 9700 §4.14.2',
    },
    O92: {
      rule: 'A missing `refresh_token` is `invalid_request`. One that is unknown, expired or revoked, and any other kind of credential, is `invalid_grant`, whatever `scope` is asked for.',
      source: 'RFC 6749 §5.2',
    },
    O93: {
      rule: 'The refresh token of another app is `invalid_grant`. Its owner notices nothing, and the audit log names the app that sent it.',
      source: 'RFC 6749 §6',
    },
    O94: {
      rule: 'With a smaller `scope` the new access token is narrower, and `scope` in the answer says so. The refresh token keeps all that was granted.',
      source: 'OAuth 2.1 draft §4.3.3',
    },
    O95: {
      rule: 'A `scope` that was not granted is `invalid_scope` and spends nothing.',
      source: 'RFC 6749 §6',
    },
    O96: {
      rule: 'The same refresh token again, up to 30 seconds after its use and before its successor is used, gets the same two tokens with what is left of `expires_in`, in whole seconds of which one that has begun counts: an answer was lost, or two tabs refreshed at once. With another scope than the first time it is `invalid_scope`, and once that access token was revoked `invalid_grant`; neither ends anything.',
      source: 'own',
    },
    O97: {
      rule: 'A used refresh token that comes back later than 30 seconds, or after its successor was used, is `invalid_grant` and revokes the grant: the newest refresh token is dead and every access token gets 401. That holds while the user is blocked, too, but not when another app shows it.',
      source: 'RFC 9700 §4.14.2',
    },
    O98: {
      rule: 'Only the token just before the current one may come back. When R1 led to R2 and R2 to R3, R1 revokes the grant even within its 30 seconds.',
      source: 'RFC 9700 §4.14.2',
    },
    O99: {
      rule: 'Every refresh token of a revoked grant is `invalid_grant`, also one that could still have been repeated.',
      source: 'own',
    },
    O100: {
      rule: '50 refreshes of one token at the same moment in two processes all get 200 and the same two tokens. One new refresh token is stored, no answer is a 5xx, and the grant lives.',
      source: 'own',
    },
    O101: {
      rule: 'When the process is killed in the middle of a refresh, nothing of it is stored: the old refresh token still works, in the next process.',
      source: 'own',
    },
    O102: {
      rule: 'A refresh token dies after 30 days without use. No refresh leads past 180 days after the grant.',
      source: 'OAuth 2.1 draft §4.3.3',
    },
    O103: {
      rule: 'The access token of before a refresh works until its own end, or that of its grant.',
      source: 'own',
    },
    O104: {
      rule: 'When the user removes the app or is blocked, the next refresh is `invalid_grant`; when the operator disables the app, 401 `invalid_client`. The next API call gets 401: nothing is cached.',
      source: 'OAuth 2.1 draft §7.9',
    },
  },
};

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
