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
      rule: "An error of an authorization request whose client and redirect URI are proven goes to the app at once for a user who is signed in. A visitor who is not gets a page with 400, the error code, the app's name and a link that returns to the app with `error`, `state` and `iss`. Neither stores anything. `prompt=none` always redirects.",
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
      rule: 'However a phone number is written, with spaces, brackets or `+`, it is one E.164 identity with one limit. A number without `+` is read as dialled in `OTP_DEFAULT_COUNTRY`; without that setting it gets a message by the field.',
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
      rule: 'The field has `autocomplete="one-time-code"` and `inputmode="numeric"`, the message ends with `@host #123456` for browsers to fill in, and no URL holds the password. A message that fails is repeated after 2, 10 and 30 seconds; when the last attempt fails, only the total of the day gets it back, for phones with and without a user alike, and a metric and the audit log report it.',
      source: 'WebOTP',
    },
  },
};
