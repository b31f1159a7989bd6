import type { Topic } from './topic.js';

export const AUTHORIZATION_REQUEST: Topic = {
  title: 'Authorization requests',
  rules: {
    O1: {
      rule: 'A request in order from a visitor who is not signed in gets the sign-in page with status 200. Nobody is redirected and no code exists yet.',
      source: 'RFC 6749 §3.1, §4.1.1',
    },
    O2: {
      rule: 'A `client_id` that is missing, malformed, unknown, in the wrong letter case, or of a disabled app gets a page with 400. That comes before anybody is asked for a phone number.',
      source: 'RFC 6749 §4.1.2.1',
    },
    O3: {
      rule: 'A request without `redirect_uri` gets a page with 400, also when the app has registered only one.',
      source: 'RFC 6749 §3.1.2.3',
    },
    O4: {
      rule: 'A `redirect_uri` must equal a registered one character by character. Any difference gets a page with 400: a trailing slash, letter case, an added query or fragment, another scheme or port, user info, a sub-domain, dot segments, percent-encoding, white space, NUL, a look-alike letter.',
      source: 'RFC 9700 §4.1.3; RFC 3986 §6.2.1',
    },
    O5: {
      rule: 'A public app that registered a redirect on `http://127.0.0.1` or `http://[::1]` may ask for it with any port. Nothing else may vary: `localhost` keeps its exact port, the names of loopback do not stand for each other, and another path or user info gets a page with 400.',
      source: 'RFC 8252 §7.3',
    },
    O6: {
      rule: 'A confidential app has no choice of loopback ports, and nobody has one elsewhere, as on `https`: another port than the registered one gets a page with 400.',
      source: 'RFC 9700 §2.1',
    },
    O7: {
      rule: 'Without `response_type` the app is told `invalid_request`; with any value but `code`, such as `token` or `code token`, it is told `unsupported_response_type`.',
      source: 'RFC 6749 §4.1.2.1',
    },
    O8: {
      rule: 'A protocol parameter that comes twice is told to the app as `invalid_request`, without a `state` when `state` is the one. `client_id` or `redirect_uri` twice gets a page with 400.',
      source: 'RFC 6749 §3.1',
    },
    O9: {
      rule: 'No query makes the server fail. `scope[a]` and `state[]` are names of unknown parameters, a broken percent-encoding gets a page with 400, and a URL of 100 kB gets 431.',
      source: 'RFC 6749 §3.1',
    },
    O10: {
      rule: 'A parameter with an empty value counts as one that was not sent.',
      source: 'RFC 6749 §3.1',
    },
    O11: {
      rule: 'Parameters that the server does not know, such as `nonce`, `audience` or `resource`, are ignored, even when they come twice.',
      source: 'RFC 6749 §3.1',
    },
    O12: {
      rule: 'A scope that does not exist, or that the app is not registered for, is told to the app as `invalid_scope`.',
      source: 'RFC 6749 §4.1.2.1',
    },
    O13: {
      rule: 'There is no default scope: a request without `scope` is told to the app as `invalid_scope`.',
      source: 'RFC 6749 §3.3',
    },
    O14: {
      rule: 'Scopes are case-sensitive, their order does not matter, and repeated ones count once. Pages and answers list them in one fixed order: `profile.read posts.read posts.write analytics.read`.',
      source: 'RFC 6749 §3.3',
    },
    O15: {
      rule: 'A `state` of up to 4,096 bytes comes back byte for byte, whatever characters it has; a longer one gets a page with 400, whatever else is wrong. A request without `state` is told to the app as `invalid_request`, with no `state` in the answer.',
      source: 'RFC 6749 §4.1.2',
    },
    O16: {
      rule: 'Every redirect to an app, with a code or with an error, carries `iss`, which equals the `issuer` of the metadata byte for byte and does not follow the `Host` header.',
      source: 'RFC 9207 §2',
    },
    O17: {
      rule: 'The query of a registered redirect URI stays, and ours is added to it. Spaces are written `%20`, never `+`.',
      source: 'RFC 6749 §3.1.2',
    },
    O18: {
      rule: 'The answer to a decision is a 303 with an empty body. No redirect to an app is 307 or 308, which would send the form on to the app.',
      source: 'RFC 9700 §4.12',
    },
    O19: {
      rule: 'The authorization endpoint takes `GET`, `HEAD` and `OPTIONS`; any other method gets 405 with these three in `Allow`. No answer of it has an `Access-Control-*` header.',
      source: 'RFC 9700 §2.6',
    },
    O20: {
      rule: 'An error of the protocol is told to the app at once, also when nobody is signed in, and stores nothing. With `OAUTH_ERRORS_BEFORE_SIGN_IN=page` a visitor who is not signed in gets a page with 400 instead, with a link that returns to the app.',
      source: 'RFC 9700 §4.11.2',
    },
  },
};

export const PKCE_REQUEST: Topic = {
  title: 'PKCE in the authorization request',
  rules: {
    O21: {
      rule: 'A public app must send a `code_challenge`, else it is told `invalid_request`. A confidential app may leave it out, and may use it.',
      source: 'RFC 9700 §2.1.1; RFC 7636 §4.4.1',
    },
    O22: {
      rule: 'A challenge needs `code_challenge_method=S256`, spelled so. `plain`, `s256`, `S512` or no method, which would mean `plain`, is told to the app as `invalid_request`.',
      source: 'RFC 7636 §4.3, §4.4.1',
    },
    O23: {
      rule: 'A challenge that is not exactly 43 characters of `A-Z a-z 0-9 - _` is told to the app as `invalid_request` here, and not only when the code is exchanged.',
      source: 'RFC 7636 §4.2',
    },
    O24: {
      rule: 'A challenge with which the same app has already got a code is written to the audit log, as long as the row of that code is kept (O142); with `OAUTH_REFUSE_REUSED_CHALLENGE=1` the app is told `invalid_request`. Before a code was issued, the same challenge again is a reload of the page.',
      source: 'RFC 9700 §2.1.1',
    },
  },
};

export const CONSENT: Topic = {
  title: 'Consent, session and forms',
  rules: {
    O25: {
      rule: 'The consent page names the app, the host (or private-use scheme) that it will be redirected to, the signed-in user with a masked phone, and each requested scope as a sentence with a checkbox, and says where access can be removed later. Markup in any name stays text.',
      source: 'OAuth 2.1 draft §7.9',
    },
    O26: {
      rule: 'Allow and Deny are submit buttons of one form. No page needs JavaScript.',
      source: 'own',
    },
    O27: {
      rule: "Every HTML answer, errors and 429 included, has `Cache-Control: no-store`, a `Content-Security-Policy` with `default-src 'none'`, `frame-ancestors 'none'` and `base-uri 'none'`, `X-Frame-Options: DENY`, `X-Content-Type-Options: nosniff`, `Referrer-Policy: same-origin`, `Cross-Origin-Opener-Policy: unsafe-none` and, behind https, `Strict-Transport-Security`.",
      source: 'RFC 9700 §4.16, §4.2.4',
    },
    O28: {
      rule: 'The `Content-Security-Policy` of the consent page has no `form-action`, since browsers apply it to every redirect that follows the form and would stop at the app or behind it; those of other pages allow this server only. Allow reaches redirects on `https`, on loopback with a port, and with a private-use scheme.',
      source: 'own',
    },
    O29: {
      rule: 'No page loads anything from another site, and none links to one, but for the way back to the app of O20.',
      source: 'RFC 9700 §4.2.4',
    },
    O30: {
      rule: "A form with a missing or wrong anti-forgery token, with an `Origin` other than the server's own (`null` included), or marked `Sec-Fetch-Site: cross-site` or `same-site` gets a page with 403 (or 400 where a field is missing). It has no effect: the request stays open for its owner.",
      source: 'RFC 6749 §10.12',
    },
    O31: {
      rule: 'A pending request belongs to one browser, by a cookie, and to one signed-in user. A form with the valid transaction and token of somebody else gets a page with 403.',
      source: 'RFC 6749 §10.12',
    },
    O32: {
      rule: 'When the user signs out or switches accounts after the consent page was shown, its form gets a page with 403.',
      source: 'RFC 6749 §10.12',
    },
    O33: {
      rule: 'A decision counts once. Of any number of answers to one request, one after the other or at the same moment, exactly one leads to a code; the others get a page with 409.',
      source: 'own',
    },
    O34: {
      rule: 'One browser may have several requests open, one to a tab, and each can be completed. Once a user has signed in in one tab, the same phone typed in another one, opened before, leads on without a second message, unless its `prompt` asks to sign in.',
      source: 'own',
    },
    O35: {
      rule: 'A request can be answered for 15 minutes. After that its forms get a page with 400 that says to start again at the app, and nobody is redirected.',
      source: 'own',
    },
    O36: {
      rule: 'Deny is told to the app as `access_denied`.',
      source: 'RFC 6749 §4.1.2.1',
    },
    O37: {
      rule: 'Who allows nothing denies: when every box is unticked, the app is told `access_denied`, and there is no grant.',
      source: 'RFC 6749 §3.3',
    },
    O38: {
      rule: 'A scope in the form that was not part of the request is dropped. When none is left, it is a denial.',
      source: 'RFC 6749 §3.3',
    },
    O39: {
      rule: 'When the app was disabled, or its redirect URI or every scope of the request removed, after the consent page was shown, the decision gets a page with 400 and there is no code. When some of the scopes were removed, those are not granted, and no page offers them any more.',
      source: 'RFC 9700 §4.1.3',
    },
    O40: {
      rule: 'Consent is asked for every time, whatever the app had before. The earlier choice is ticked again: refused scopes start unticked, new ones ticked.',
      source: 'RFC 8252 §8.6',
    },
    O41: {
      rule: '`prompt=none` is told to the app as `interaction_required`, signed in or not; in a frame the endpoint is a page with 400, as for all that another page loads as a part of itself. `prompt=consent` changes nothing, since consent is always asked for; `login` and `select_account` ask for sign-in even with a session.',
      source: 'OpenID Connect Core §3.1.2.6, by analogy',
    },
    O42: {
      rule: 'Cookies are `HttpOnly`, `SameSite=Lax` and host-only; behind https they are `Secure` and start with `__Host-`. The value of the session is new at every sign-in, and the one before, or one that somebody planted, is dead. A form from a browser that kept no cookie gets a page that explains it.',
      source: 'NIST SP 800-63B §7.1',
    },
  },
};

export const ONE_TIME_PASSWORDS: Topic = {
  title: 'Phone sign-in with one-time passwords',
  rules: {
    O43: {
      rule: 'A one-time password is six digits, leading zeros included, drawn evenly from a cryptographic random source.',
      source: 'NIST SP 800-63B §5.1.3.2',
    },
    O44: {
      rule: 'It is stored as HMAC-SHA256 of request, phone and password under a key that is not in the database, so that a dump of the tables does not give it away.',
      source: 'NIST SP 800-63B §5.1.3.2',
    },
    O45: {
      rule: 'It works for five minutes, to the millisecond before 5:00, and is refused from 5:00 on.',
      source: 'NIST SP 800-63B §5.1.3.2',
    },
    O46: {
      rule: 'It works once: sent many times at the same moment, the right password makes exactly one session.',
      source: 'NIST SP 800-63B §5.1.3.2',
    },
    O47: {
      rule: 'One password takes five attempts; the sixth is refused even when it is right. Attempts are counted before they are compared, so that 50 at the same moment cause no more than five comparisons. One that is answered 429 was not compared and does not count.',
      source: 'NIST SP 800-63B §5.2.2',
    },
    O48: {
      rule: 'Ten wrong passwords for one phone within 15 minutes, over all requests and browsers, close it until the window has moved on (but for O57). New messages do not set that count back, and none is sent while it is closed; right passwords do not add to it.',
      source: 'NIST SP 800-63B §5.2.2',
    },
    O49: {
      rule: 'Another message within 60 seconds of the last one gets a page with 429 and `Retry-After`. Nothing is sent, and the earlier password still works.',
      source: 'own',
    },
    O50: {
      rule: 'Once a new message is sent, only its password works.',
      source: 'own',
    },
    O51: {
      rule: 'A hundred requests for a message to one phone at the same moment send one.',
      source: 'own',
    },
    O52: {
      rule: 'At most 5 messages an hour and 10 a day go to one phone, 20 an hour may be asked for from one address (IPv6 by /64), and 10,000 a day go out in all; reaching that is an error in the log and an audit event. With `OTP_COUNTRIES` set, other countries get a message by the field. Each number is configurable.',
      source: 'own',
    },
    O53: {
      rule: 'However a phone number is written, with spaces, brackets, `00` or `+`, it is one E.164 identity with one budget. A national number is one of `OTP_DEFAULT_COUNTRY`; without that setting it gets a message by the field.',
      source: 'own',
    },
    O54: {
      rule: 'A phone that nobody has, or whose user is blocked, gets the same status and page, as fast, as any other, since messages are sent beside the request. No message goes to it, and no password signs it in.',
      source: 'NIST SP 800-63B §5.2.2; CWE-204',
    },
    O55: {
      rule: 'A password works only in the browser that asked for it, and only for the request that it was asked for.',
      source: 'NIST SP 800-63B §5.1.3',
    },
    O56: {
      rule: 'A hundred wrong passwords in a row for one phone, over any time and any browsers, close it for 24 hours or until `user unlock`, for right passwords and new messages alike. A right one before that starts the count again.',
      source: 'NIST SP 800-63B §5.2.2',
    },
    O57: {
      rule: 'When strangers have used up what a phone has, a browser that signed in with it before still has one message and five attempts in 15 minutes. The lock of O56 holds there, too.',
      source: 'own',
    },
    O58: {
      rule: 'The field has `autocomplete="one-time-code"` and `inputmode="numeric"`, the message ends with `@host #123456` for browsers to fill in, and no URL holds the password. A message that fails is tried again after 2, 10 and 30 seconds; when it fails for good, the page stays the same, neither attempts nor budgets are spent, and a metric and the audit log tell of it.',
      source: 'WebOTP',
    },
  },
};

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
      rule: 'When the database is away, overloaded or too slow, the answer is 503 `temporarily_unavailable` with `Retry-After`; any other fault of ours is 500 `server_error`. It is never `invalid_grant` or `invalid_client`, on which clients drop their tokens, and nothing is spent that the same request would need: it works afterwards. Where the database was lost in the middle of a COMMIT, nobody knows whether it did; then the request works for ten minutes at the process that it was sent to. Pages say 503 or 500, and their form can be sent again: no message, guess or one-time password is used up. The exception is a decision in whose COMMIT the database was lost, which may be told 409 then; the user begins again at the app.',
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
      rule: 'A code that comes back with everything right 10 seconds or more after its use is `invalid_grant` and revokes its grant: access tokens get 401, refresh tokens `invalid_grant`. Sooner, it is a repeat that is refused and ends nothing. One whose exchange was told 503 is not used before it was answered (O68).',
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

export const THROTTLING: Topic = {
  title: 'Throttling',
  rules: {
    O126: {
      rule: 'After 20 failures of one app from one address within 15 minutes, every further call is 429 with `error` `too_many_attempts`, an `error_description` that says how long to wait, `message` `Too many attempts`, `Retry-After` in whole seconds, and `no-store`. A failure is a refused request of anybody but a confidential app that proved its secret; a dead code or refresh token that was once issued to the public app that sends it is none, as long as its row is kept (O142).',
      source: 'RFC 6585 §4; OAuth 2.1 draft §2.4.1',
    },
    O127: {
      rule: 'After 20 failures of one browser at sign-in and decision within 15 minutes, wrong passwords and forged forms together, the answer is a page with 429, "Too many attempts" and `Retry-After`.',
      source: 'source document, section 8',
    },
    O128: {
      rule: 'The window rolls: what counts is the last 15 minutes, not a fixed quarter of an hour.',
      source: 'source document, section 8',
    },
    O129: {
      rule: 'Successes never spend a budget of failures: a thousand refreshes from one address are all answered, and no error costs an app anything once its secret was right. Calls have budgets of their own in 15 minutes, exact under concurrency: 7,500 for a confidential app from wherever it calls, 7,500 for a public app from one address, and, from one address, 600 authorization requests and 1,800 steps of signing in and deciding.',
      source: 'own',
    },
    O130: {
      rule: 'Who changes the `client_id` or the browser with every call stays in the budget of their address: 100 failures at the token endpoint, 60 on the pages. `X-Forwarded-For` is believed for as many proxies as `TRUST_PROXY` counts, which takes a number only; ports in it do not matter, and IPv6 addresses count by their /64.',
      source: 'own',
    },
    O131: {
      rule: "Nobody spends another's budget: failures under an app's `client_id` from elsewhere, or in another browser, do not affect it, and the budget of calls of a confidential app is only spent by who proved its secret. What another site sends or loads in a visitor's browser (`Sec-Fetch-Site`, `Sec-Fetch-Dest`) is refused before it counts, unless the site is an app's that may call.",
      source: 'own',
    },
    O132: {
      rule: 'All processes share the budgets, which outlive a restart. A 429 spends no code and no refresh token and does not count itself, and what is counted takes a bounded number of rows: an address that changes its `client_id` leaves at most about two for each failure that counts.',
      source: 'own',
    },
  },
};

export const STORAGE_AND_OPERATION: Topic = {
  title: 'Storage, concurrency, time, logs and commands',
  rules: {
    O133: {
      rule: 'No table holds a client secret, code, token, verifier or one-time password, or anything with the prefix of one: only hashes are stored, and each is unique. Answers that can be repeated are stored encrypted under the token that was used.',
      source: 'RFC 9700 §4.9',
    },
    O134: {
      rule: 'Behind its prefix, every secret, code and token is 32 random bytes, and no two are the same.',
      source: 'RFC 6749 §10.10',
    },
    O135: {
      rule: 'With upper and lower case swapped no credential or id matches, on any engine and collation.',
      source: 'own',
    },
    O136: {
      rule: 'Secrets are hashed and compared in constant time. An unknown app, a wrong secret, and a public app with a secret cost the same statements and as many comparisons, so time does not tell them apart.',
      source: 'CWE-208',
    },
    O137: {
      rule: 'A code, a refresh token, a one-time password and a decision are each spent by one conditional `UPDATE`, whose affected row decides who was first.',
      source: 'RFC 6749 §4.1.2',
    },
    O138: {
      rule: 'These transactions run at READ COMMITTED, lock the grant before any token, and delete nothing: exchange, refresh, and the reuse of a code or refresh token.',
      source: 'own',
    },
    O139: {
      rule: 'A transaction that loses against another one (errors 1213, 1205 and 1020) is run again up to three times after a random pause, and the client sees a success. One that waited for a lock as long as `DB_TIMEOUT_MS` is not. When one that several requests shared fails, each of them is tried alone, unless the database is away.',
      source: 'own',
    },
    O140: {
      rule: 'Races hold on MySQL and on MariaDB with two or three processes of the service, a hundred rounds in a row. Exceptions: a refresh whose process dies, a token request that the database refuses and twelve rotations of one secret have one process at a time; rotations by three commands at once, and under load, are run once.',
      source: 'own',
    },
    O141: {
      rule: 'Lifetimes are the same wherever process and database think they are, such as Tokyo and New York. A process whose clock differs from the one of the database by more than 5 seconds is not ready, and says so.',
      source: 'own',
    },
    O142: {
      rule: 'Each hour one of all processes deletes what has expired, at most 1,000 rows at a time, found by an index. Used codes and refresh tokens stay until their grant has ended, so that one that comes back is still recognized, but the answers of O96 are cleared once they may not be given again. Refreshes meanwhile notice nothing.',
      source: 'own',
    },
    O143: {
      rule: 'With every log on (debug, SQL, access), no line holds a token, code, password, secret, verifier, cookie, `Authorization` header or full phone number, whatever goes wrong, and URLs are written without their query.',
      source: 'RFC 9700 §4.3',
    },
    O144: {
      rule: 'The audit log has an entry for each issue, refresh, reuse and replay of a token, revocation, denial, spent budget, lock of a phone, and added, retired, revoked or exposed secret, with app, grant, address and request id, and never a credential.',
      source: 'OAuth 2.1 draft §7.9',
    },
    O145: {
      rule: '`app create` and `app secret rotate` print the new secret once, on standard output; no command takes a secret as an argument. Redirect URIs with a wildcard, fragment or user info, plain `http` except on loopback, and schemes without a dot are refused. Rotation leaves the old secret its `--grace` (24 hours by default, 0 after a leak) and refuses a public app; `app secret revoke` and `app disable` act at once. Every change is in the audit log; `--json` prints one value, and exit codes are 0 (done), 1 (failed) and 2 (used wrongly).',
      source: 'OAuth 2.1 draft §2.3.1',
    },
    O146: {
      rule: 'At `/account/apps` a signed-in user sees each app that has live access once, with its scopes and its first and last use. Removing an app ends all of its grants at once, and nothing else.',
      source: 'OAuth 2.1 draft §7.9',
    },
  },
};

export const BROWSERS_AND_TYPING: Topic = {
  title: 'Real browsers, and what people type',
  rules: {
    O147: {
      rule: 'In Chromium, Allow takes the browser to the app with its code for redirects on `https`, on loopback with a port and with a private-use scheme, and from a pop-up.',
      source: 'RFC 9700 §4.2.4',
    },
    O148: {
      rule: 'A double click on Allow, or going back and allowing again, makes one code. Requests of two apps in two tabs never mix.',
      source: 'own',
    },
    O149: {
      rule: 'A one-time password may be typed with spaces, hyphens or full-width digits. Anything that cannot be one gets a message by the field (`aria-invalid`), which takes focus and leads to the field, and costs no attempt.',
      source: 'own',
    },
    O150: {
      rule: 'A phone number with `00`, or in full-width or Arabic digits, is understood. Letters, too many digits, quotes or markup get such a message, too.',
      source: 'own',
    },
    O151: {
      rule: 'Browser apps of other origins are not refused for `Sec-Fetch-Site: cross-site`, neither at the token endpoint nor at `/dev/v1`.',
      source: 'own',
    },
    O152: {
      rule: 'With a plain-http `PUBLIC_URL` on loopback all pages work: none sends `Strict-Transport-Security` or `upgrade-insecure-requests`, and cookies are kept.',
      source: 'own',
    },
  },
};
