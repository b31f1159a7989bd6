import type { Topic } from './topic.js';

export const AUTHORIZATION_REQUEST: Topic = {
  title: 'Authorization requests',
  rules: {
    O1: {
      rule: 'A valid request from a user who is not signed in returns the sign-in page with status 200. The server neither redirects nor issues a code yet.',
      source: 'RFC 6749 §3.1, §4.1.1',
    },
    O2: {
      rule: 'A `client_id` that is missing, malformed, unknown, in the wrong letter case or of a disabled app returns an error page with 400, before the sign-in page.',
      source: 'RFC 6749 §4.1.2.1',
    },
    O3: {
      rule: 'A request without `redirect_uri` returns an error page with 400, even if the app has registered only one.',
      source: 'RFC 6749 §3.1.2.3',
    },
    O4: {
      rule: 'A `redirect_uri` must equal a registered one character by character. Any difference returns an error page with 400: a trailing slash, letter case, an added query or fragment, another scheme or port, user info, a sub-domain, dot segments, percent-encoding, white space, NUL, a look-alike letter.',
      source: 'RFC 9700 §4.1.3; RFC 3986 §6.2.1',
    },
    O5: {
      rule: 'A public app that registered a redirect URI on `http://127.0.0.1` or `http://[::1]` may use any port. Nothing else may vary: `localhost` requires its exact port, `127.0.0.1`, `[::1]` and `localhost` are not interchangeable, and another path or user info returns an error page with 400.',
      source: 'RFC 8252 §7.3',
    },
    O6: {
      rule: 'On loopback, a confidential app must use its registered port. On `https`, every app must. Another port returns an error page with 400.',
      source: 'RFC 9700 §2.1',
    },
    O7: {
      rule: 'A missing `response_type` redirects with `invalid_request`. Any value but `code`, such as `token` or `code token`, redirects with `unsupported_response_type`.',
      source: 'RFC 6749 §4.1.2.1',
    },
    O8: {
      rule: 'A repeated protocol parameter redirects with `invalid_request`, without `state` if `state` is the repeated one. A repeated `client_id` or `redirect_uri` returns an error page with 400.',
      source: 'RFC 6749 §3.1',
    },
    O9: {
      rule: 'No query causes a server error. `scope[a]` and `state[]` are unknown parameters, an invalid percent-encoding returns an error page with 400, and a URL of 100 kB returns 431.',
      source: 'RFC 6749 §3.1',
    },
    O10: {
      rule: 'A parameter with an empty value is treated as missing.',
      source: 'RFC 6749 §3.1',
    },
    O11: {
      rule: 'Unknown parameters, such as `nonce`, `audience` or `resource`, are ignored, even if repeated.',
      source: 'RFC 6749 §3.1',
    },
    O12: {
      rule: 'A scope that does not exist, or that is not registered for the app, redirects with `invalid_scope`.',
      source: 'RFC 6749 §4.1.2.1',
    },
    O13: {
      rule: 'There is no default scope: a request without `scope` redirects with `invalid_scope`.',
      source: 'RFC 6749 §3.3',
    },
    O14: {
      rule: 'Scopes are case-sensitive. Their order does not matter, and duplicates are ignored. Pages and responses list them in a fixed order: `profile.read posts.read posts.write analytics.read`.',
      source: 'RFC 6749 §3.3',
    },
    O15: {
      rule: 'A `state` of up to 4,096 bytes is returned byte for byte, whatever characters it contains. A longer one returns an error page with 400, whatever else is wrong. A missing one redirects with `invalid_request` and without `state`.',
      source: 'RFC 6749 §4.1.2',
    },
    O16: {
      rule: 'Every redirect to an app, with a code or an error, contains `iss`. It equals the `issuer` of the metadata byte for byte and does not depend on the `Host` header.',
      source: 'RFC 9207 §2',
    },
    O17: {
      rule: 'The query of a registered redirect URI is preserved, and the response parameters are appended to it. Spaces are encoded as `%20`, never as `+`.',
      source: 'RFC 6749 §3.1.2',
    },
    O18: {
      rule: 'The response to a decision is a 303 with an empty body. No redirect to an app is 307 or 308, which would forward the form to the app.',
      source: 'RFC 9700 §4.12',
    },
    O19: {
      rule: 'The authorization endpoint accepts `GET`, `HEAD` and `OPTIONS`. Any other method returns 405 with these three in `Allow`. No response has an `Access-Control-*` header.',
      source: 'RFC 9700 §2.6',
    },
    O20: {
      rule: "If `client_id` and `redirect_uri` are valid but another parameter is not, the server redirects a signed-in user to the app at once. A user who is not signed in gets an error page with 400: it shows the error code, the app's name and a link to the app with `error`, `state` and `iss`. Neither case stores anything. One error is redirected for both: `interaction_required`, the error of `prompt=none` (O41).",
      source: 'RFC 9700 §4.11.2',
    },
  },
};

export const PKCE_REQUEST: Topic = {
  title: 'PKCE in the authorization request',
  rules: {
    O21: {
      rule: 'An app that requires PKCE must send a `code_challenge`; otherwise the server redirects with `invalid_request`. Every public app requires PKCE. A confidential app does if it was registered or updated with `--require-pkce`; authorization requests and codes from before that remain valid.',
      source: 'RFC 9700 §2.1.1; RFC 7636 §4.4.1',
    },
    O22: {
      rule: 'A `code_challenge` requires `code_challenge_method=S256`, case-sensitively. `plain`, `s256`, `S512` or no method, which would mean `plain`, redirects with `invalid_request`.',
      source: 'RFC 7636 §4.3, §4.4.1',
    },
    O23: {
      rule: 'A `code_challenge` that is not exactly 43 characters of `A-Z a-z 0-9 - _` redirects with `invalid_request`. It is not left to the token endpoint.',
      source: 'RFC 7636 §4.2',
    },
  },
};

export const CONSENT: Topic = {
  title: 'Consent, session and forms',
  rules: {
    O25: {
      rule: 'The consent page shows the app, the host of its redirect URI (for a private-use scheme, the name of the app), the signed-in user with a masked phone, each requested scope as a sentence with a checkbox, and where access can be removed later. Markup in names is escaped.',
      source: 'OAuth 2.1 draft §7.9',
    },
    O26: {
      rule: 'Allow and Cancel are submit buttons of one form, visible without scrolling at 375 × 667 pixels with four scopes. The Enter key on a permission does nothing, and presses only a button that has the focus (O166 delays Allow). No page requires JavaScript; only the pages of the code and of consent have scripts, which make a second click harmless.',
      source: 'own',
    },
    O27: {
      rule: "Every HTML response, including errors and 429, has `Cache-Control: no-store`, a `Content-Security-Policy` with `default-src 'none'`, `frame-ancestors 'none'` and `base-uri 'none'`, `X-Frame-Options: DENY`, `X-Content-Type-Options: nosniff`, `Referrer-Policy: same-origin`, `Cross-Origin-Opener-Policy: unsafe-none` and, over https, `Strict-Transport-Security`.",
      source: 'RFC 9700 §4.16, §4.2.4',
    },
    O28: {
      rule: "The `Content-Security-Policy` of the consent page has no `form-action`: browsers apply it to every redirect after the form and would block the app's redirect URI. Other pages allow forms to this server only. Only the pages of the code and of consent allow scripts, those of this server. Allow works with redirect URIs on `https`, on loopback with a port, and with a private-use scheme.",
      source: 'own',
    },
    O29: {
      rule: 'No page loads anything from another site. No page links to one, except for the link to the app of O20.',
      source: 'RFC 9700 §4.2.4',
    },
    O30: {
      rule: "A form with a missing or wrong anti-forgery token, with an `Origin` other than the server's own (including `null`), or with `Sec-Fetch-Site: cross-site` or `same-site` returns an error page with 403 (400 if a field is missing). It has no effect and is not followed by a redirect: the user can still decide on the authorization request.",
      source: 'RFC 6749 §10.12',
    },
    O31: {
      rule: 'A pending authorization request is bound to one browser, by a cookie, and to one signed-in user. A form with the `transaction` and anti-forgery token of another user, even valid ones, returns an error page with 403.',
      source: 'RFC 6749 §10.12',
    },
    O32: {
      rule: 'If the user signs out or switches accounts after the consent page was shown, its form returns an error page with 403.',
      source: 'RFC 6749 §10.12',
    },
    O33: {
      rule: 'An authorization request can be decided once. Of any number of decisions, sequential or concurrent, the first one takes effect; the others issue no code and lead to an error page with 409.',
      source: 'own',
    },
    O34: {
      rule: 'One browser can have several pending authorization requests, one for each tab, and complete each of them. After a sign-in in one tab, entering the same phone in an older tab continues without a second message, unless the `prompt` of the older request requires a sign-in.',
      source: 'own',
    },
    O35: {
      rule: 'An authorization request expires after 15 minutes. Then its forms and pages return an error page with 400 that asks the user to start again at the app, without a redirect.',
      source: 'own',
    },
    O36: {
      rule: 'Cancel redirects with `access_denied`.',
      source: 'RFC 6749 §4.1.2.1',
    },
    O37: {
      rule: 'Allow without a selected scope is a denial: it redirects with `access_denied` and creates no grant.',
      source: 'RFC 6749 §3.3',
    },
    O38: {
      rule: 'A scope in the form that the app did not request is ignored. If none remains, the decision is a denial.',
      source: 'RFC 6749 §3.3',
    },
    O39: {
      rule: 'If the operator disables the app, or removes its redirect URI or all requested scopes, after the consent page was shown, the decision returns an error page with 400 and issues no code. If only some of the scopes were removed, those are neither offered nor granted.',
      source: 'RFC 9700 §4.1.3',
    },
    O40: {
      rule: "The server asks the user every time, whatever the user granted before. If the app already has every requested scope and no `prompt` demands more, a short page lists the scopes and needs one click; it links to the consent page. On the consent page, the checkboxes show the user's previous choice; scopes that are new to the user are selected. With Allow, the user's earlier grants to the app lose the scopes that were requested now and not allowed, at once; a grant without any other scope ends. Cancel, and Allow without a scope, change nothing.",
      source: 'RFC 8252 §8.6',
    },
    O41: {
      rule: 'A request with `prompt=none` that is otherwise valid redirects with `interaction_required`, with or without a session. In a frame, or as any other subresource, the endpoint returns an error page with 400. `consent` shows the consent page with its checkboxes although the app already has every requested scope. `login` and `select_account` do the same, and require a sign-in even with a session.',
      source: 'OpenID Connect Core §3.1.2.6, by analogy',
    },
    O42: {
      rule: 'Cookies are `HttpOnly`, `SameSite=Lax` and host-only. Over https they are `Secure` and start with `__Host-`, or with `__Secure-` if they are for one page; over http their names contain the port, because browsers send cookies to every port of a host. Other cookies are neither read nor set. Every sign-in creates a new session id and invalidates the previous one, including one that an attacker planted. A form from a browser without cookies returns a page that explains the problem.',
      source: 'NIST SP 800-63B §7.1',
    },
  },
};

export const ONE_TIME_PASSWORDS: Topic = {
  title: 'Phone sign-in with one-time passwords',
  rules: {
    O43: {
      rule: 'A one-time password is six digits, including leading zeros, uniformly distributed and from a cryptographic random source.',
      source: 'NIST SP 800-63B §5.1.3.2',
    },
    O44: {
      rule: 'One-time passwords are stored as an HMAC-SHA256 over the browser, the phone and the password. The key is not in the database, so a dump of the tables does not reveal the passwords.',
      source: 'NIST SP 800-63B §5.1.3.2',
    },
    O45: {
      rule: 'A one-time password is valid for five minutes. It is accepted one millisecond before 5:00 and rejected from 5:00 on.',
      source: 'NIST SP 800-63B §5.1.3.2',
    },
    O46: {
      rule: 'A one-time password can be used once: if it is sent many times concurrently, it creates exactly one session.',
      source: 'NIST SP 800-63B §5.1.3.2',
    },
    O47: {
      rule: 'A one-time password allows five attempts. The sixth is rejected, even if it is correct. Attempts are counted before the comparison, so 50 concurrent attempts cause at most five comparisons. An attempt that returns 429 is not compared and not counted.',
      source: 'NIST SP 800-63B §5.2.2',
    },
    O48: {
      rule: 'Ten wrong passwords for one phone within 15 minutes, over all authorization requests and browsers that are not trusted devices (O57), block the phone for them until the window has passed. New messages do not reset the count, and none is sent while the phone is blocked. Correct passwords are not counted.',
      source: 'NIST SP 800-63B §5.2.2',
    },
    O49: {
      rule: 'Requesting a second message to the same phone within 60 seconds leads to a page with 429 and `Retry-After`. Nothing is sent, and the earlier password remains valid. A user who starts again in the same browser gets the page for the earlier password, with 200.',
      source: 'own',
    },
    O50: {
      rule: 'A new message invalidates the passwords in earlier ones that the same browser requested for the phone.',
      source: 'own',
    },
    O51: {
      rule: 'A hundred concurrent requests for a message to one phone send one message.',
      source: 'own',
    },
    O52: {
      rule: 'Limits for messages: 5 an hour and 10 a day to one phone, 20 an hour requested from one address (IPv6: 20 from a /64, 40 from a /56, 100 from a /48), and 10,000 a day in total, of which the last fifth is left to trusted devices (O57). The log and the audit log report when 50, 80 and 100 percent of the total are used up, and `otp_daily_total_remaining` is the rest. If `OTP_COUNTRIES` is set, numbers of other countries cause an error message at the field. A number whose country is unknown, as with a new area code, counts as one of the main country of its calling code. Each limit is configurable.',
      source: 'own',
    },
    O53: {
      rule: 'A phone number is one E.164 identity with one limit, however it is written (with spaces, brackets or `+`). A number without `+` is interpreted as dialled in the selected country, else in `OTP_DEFAULT_COUNTRY`; without both it causes an error message at the field. If its digits begin with the calling code of that country and only lack the `+`, they are read so. Parsing a stored number again never changes it. The page of the code shows it in full, in groups of digits.',
      source: 'own',
    },
    O54: {
      rule: 'A phone without a user, or of a blocked user, gets the same status and page in the same time as any other, and so do the requests after it: messages are sent in the background, and for such a phone the same statements run. No message is sent to it, and no password signs it in.',
      source: 'NIST SP 800-63B §5.2.2; CWE-204',
    },
    O55: {
      rule: 'A password is accepted only in the browser that requested it, for the phone for which it was requested, in any authorization request of that browser.',
      source: 'NIST SP 800-63B §5.1.3',
    },
    O56: {
      rule: 'A hundred consecutive wrong passwords for one phone, over any time and any browsers, lock the phone until a sign-in on a trusted device (O57) or `user unlock`. The lock applies to correct passwords and new messages, too. A correct password before the lock resets the count. Without attempts, a count is kept for 400 days, and a lock for ever.',
      source: 'NIST SP 800-63B §5.2.2',
    },
    O57: {
      rule: 'A trusted device is a browser that signed in with this phone before. The limits of O48 and O52 for phones and addresses, O130 for addresses on pages, and the lock of O56 do not apply to it. All trusted devices of a phone together have limits of the same size for messages and wrong passwords. After 100 consecutive wrong passwords, and after `user revoke-all`, `user change-phone`, `user erase` or, for other browsers, "Sign out everywhere", a device is no longer trusted.',
      source: 'own',
    },
    O58: {
      rule: 'The field has `autocomplete="one-time-code"` and `inputmode="numeric"`, the message ends with `@host #123456` so that browsers can fill it in, and no URL contains the password. A message that fails is retried after 2, 10 and 30 seconds, later if `Retry-After` demands it, at most three times, with the same id, and never after the password expires or a newer one has replaced it. If the last attempt fails, the message no longer counts against the daily total of O52. It still counts against the limits of its phone and address, so these do not reveal whether the phone has a user. A metric and the audit log report the failure.',
      source: 'WebOTP',
    },
  },
};
