import type { Topic } from './topic.js';

export const METADATA_AND_BROWSER_APPS: Topic = {
  title: 'Metadata and browser apps (CORS)',
  rules: {
    O120: {
      rule: '`/.well-known/oauth-authorization-server` lists the endpoints, `code` as the only response type, the two grant types, `client_secret_basic`, `client_secret_post` and `none`, `S256`, the scopes, and `iss` in redirects. Its `issuer` is the configured one, regardless of `Host` and `X-Forwarded-Host`.',
      source: 'RFC 8414 §2, §3; RFC 9207 §3',
    },
    O121: {
      rule: 'Everything that the metadata lists works. What it does not list is rejected: other response types and modes, grant types and challenge methods, request objects, and endpoints such as `/oauth/register`, which returns 404.',
      source: 'RFC 8414',
    },
    O122: {
      rule: 'Every origin may read the metadata (`Access-Control-Allow-Origin: *`). It is publicly cacheable for an hour.',
      source: 'RFC 9700 §2.6',
    },
    O123: {
      rule: 'A preflight of the token or revocation endpoint returns 204. If the `Origin` is that of a redirect URI of an enabled public app, the response allows `POST` with `Authorization`, `Content-Type` and `X-Requested-With`; a loopback redirect URI matches any port. `Vary: Origin` is always sent. Introspection and the authorization endpoint allow no origin.',
      source: 'Fetch standard, CORS; OAuth 2.1 draft §3.2',
    },
    O124: {
      rule: 'The origin of an enabled public app (O123) may read every response, including 400, 401 and 429, and the headers `WWW-Authenticate` and `Retry-After`, unless the request names an app that is not a public app of this origin. Cookies are never used: `Access-Control-Allow-Credentials` is never sent.',
      source: 'RFC 9700 §2.6',
    },
    O125: {
      rule: 'Any other origin, `Origin: null`, and requests of confidential apps get no `Access-Control-Allow-Origin`.',
      source: 'own',
    },
  },
};

export const THROTTLING: Topic = {
  title: 'Rate limits',
  rules: {
    O126: {
      rule: 'After 20 failed requests of one app from one address within 15 minutes, every further request that fails returns 429 with `error` `too_many_attempts`, the time to wait in `error_description`, `message` `Too many attempts`, `Retry-After` in whole seconds, and `no-store`. Requests of a confidential app with a valid secret never count as failed. Neither do requests of a public app with an expired or used code or refresh token that was issued to it, until the row of this credential is pruned (O142). Requests that do not count as failed get their own response, also beyond the limit.',
      source: 'RFC 6585 §4; OAuth 2.1 draft §2.4.1',
    },
    O127: {
      rule: 'After 20 failed sign-in and consent forms of one browser within 15 minutes, wrong passwords and forged forms together, the response is a page with 429, "Too many attempts" and `Retry-After`.',
      source: 'product requirements, section 8',
    },
    O128: {
      rule: 'The window is sliding: it covers the last 15 minutes, not a fixed quarter of an hour.',
      source: 'product requirements, section 8',
    },
    O129: {
      rule: 'Successful requests never count as failed attempts: a thousand refreshes from one address all succeed. Requests have limits of their own, over 15 minutes. Each of the token, revocation and introspection endpoints accepts 7,500 from a confidential app, over all of its addresses, and 7,500 from a public app at one address. One address may send 600 authorization requests (an IPv6 /64 600, a /56 1,200, a /48 3,000) and 1,800 sign-in and consent forms, and one browser 60 of these forms. Counting is exact within a process, also under concurrency.',
      source: 'own',
    },
    O130: {
      rule: 'A client that changes the `client_id` or the browser with every request is limited by its address: after 100 failures at the token endpoint, every further failure returns 429; after 60 on the pages, every further form. `TRUST_PROXY` lists the addresses of trusted proxies, or is their number: the address is the last one in `X-Forwarded-For` that is not of a trusted proxy. Ports in it are ignored, and IPv6 addresses count by their /64.',
      source: 'own',
    },
    O131: {
      rule: "No client can use up another's limit. Failures under an app's `client_id` from another address or browser do not affect the app. Failures from its own address never block an app with a valid secret, nor a public app with a valid code and verifier or a valid refresh token: the limits of failures apply to the requests of apps only once they have failed. Requests of apps are counted after authentication. When the address of a trusted device (O57) is over the limits of the pages, the device is counted on its own. Requests that another site causes in a user's browser (`Sec-Fetch-Site`, `Sec-Fetch-Dest`) are rejected without being counted, unless the site has the origin of a public app (O123).",
      source: 'own',
    },
    O132: {
      rule: 'All processes share the failed attempts, which survive a restart. Requests are counted in the memory of each process: a new process starts at zero, and it keeps counters of at most 10,000 apps, addresses and browsers at a time. A 429 consumes no code and no refresh token, except that a wrong verifier always consumes its code (O75), and is not counted. Failed attempts take a bounded number of rows: at most two for each `client_id` that an address sends, and the address is rejected after 100 failures (O130).',
      source: 'own',
    },
  },
};

export const STORAGE_AND_OPERATION: Topic = {
  title: 'Storage, concurrency, time, logs and commands',
  rules: {
    O133: {
      rule: 'No table contains a client secret, code, token, verifier or one-time password, or any text with the prefix of one, such as `svcat_`: only hashes are stored, and each is unique. The response to a refresh, which can be repeated (O96), is stored encrypted with a key derived from the used refresh token.',
      source: 'RFC 9700 §4.9',
    },
    O134: {
      rule: 'Every secret, code and token consists of its prefix and 32 random bytes, and no two are equal.',
      source: 'RFC 6749 §10.10',
    },
    O135: {
      rule: 'A credential or id with upper and lower case swapped never matches, on any engine and collation.',
      source: 'own',
    },
    O136: {
      rule: 'Secrets are hashed and compared in constant time. An unknown app, a wrong secret, and a public app with a secret run the same statements and the same number of comparisons, so response times do not distinguish them.',
      source: 'CWE-208',
    },
    O137: {
      rule: 'Codes, refresh tokens, one-time passwords and decisions are each consumed by one conditional `UPDATE`, whose number of affected rows decides which request was first.',
      source: 'RFC 6749 §4.1.2',
    },
    O138: {
      rule: 'Code exchange, refresh, and the handling of a reused code or refresh token run at READ COMMITTED, lock the grant before any token, and delete nothing.',
      source: 'own',
    },
    O139: {
      rule: 'A transaction that fails because of another one (errors 1213, 1205 and 1020 of MySQL and MariaDB) is retried up to three times after a random delay. If a retry succeeds, the client gets a success. After 1205 (lock wait timeout), it is retried only if it has taken at most `DB_TIMEOUT_MS`, including retries. If a transaction that several requests share fails, each request is retried in a transaction of its own, unless the database is unavailable.',
      source: 'own',
    },
    O140: {
      rule: 'The tests of races pass a hundred rounds in a row on MySQL and MariaDB, with two or three processes of the service. With one process at a time: tests in which the process is killed or a trigger, lock or transaction of the test interferes, twelve concurrent rotations of one secret, and the revocation of all access during a sign-in. Once instead of a hundred rounds: the revocation of all access during a sign-in, a request whose `Idempotency-Key` stays locked for more than a second, rotations by three commands at once, and a rotation during hundreds of calls.',
      source: 'own',
    },
    O141: {
      rule: "Lifetimes do not depend on the time zones of process and database, such as Tokyo and New York. A process whose clock differs from the database's by more than 5 seconds is not ready and reports the reason.",
      source: 'own',
    },
    O142: {
      rule: 'Every hour, one of the processes deletes expired rows, at most 1,000 at a time, found by an index. Used codes are kept until their grant has ended, and used refresh tokens for 31 days after their use (the 30 days of O102 and one more), so that reuse is still detected. After that, a reused refresh token returns `invalid_grant` and revokes nothing. The stored responses of O96 are deleted once they can no longer be repeated. Concurrent refreshes are not affected.',
      source: 'own',
    },
    O143: {
      rule: 'At the most verbose log level (`LOG_LEVEL=trace`), no line contains a token, code, password, secret, verifier, cookie, `Authorization` header or full phone number, whatever error occurs. URLs are logged without their query.',
      source: 'RFC 9700 §4.3',
    },
    O144: {
      rule: 'The audit log has an entry for each issue and refresh of tokens, each repeated refresh (O96), each reuse that ends a grant (O78, O97), each token that an app sends although it was issued to another app, and each revocation, denial, exceeded limit and lock of a phone. It also has one for each client secret that is added, retired, revoked or sent in a URL. An entry contains the app and the grant that it concerns, and the id and address of the request that caused it. No entry contains a credential.',
      source: 'OAuth 2.1 draft §7.9',
    },
    O145: {
      rule: '`app create` and `app secret rotate` print the new secret once, on standard output; no command accepts a secret as an argument. Redirect URIs with a wildcard, fragment or user info, plain `http` except on loopback, and schemes without a dot are rejected. Rotation keeps the old secret valid for `--grace` (default 24 hours; use 0 after a leak) and rejects a public app. `app secret revoke` and `app disable` take effect at once. Every change is in the audit log. `--json` prints one value. Exit codes are 0 (success), 1 (failure) and 2 (usage error).',
      source: 'OAuth 2.1 draft §2.3.1',
    },
    O146: {
      rule: 'At `/account/apps` a signed-in user sees each app with valid access once, with its scopes, the time of the first valid consent and the last use. Disconnecting an app, after a page that asks for confirmation, ends all of its grants at once, and nothing else. "Sign out" ends the session of this browser. "Sign out everywhere" ends the sessions of all browsers, and no grant.',
      source: 'OAuth 2.1 draft §7.9',
    },
  },
};

export const BROWSERS_AND_TYPING: Topic = {
  title: 'Browsers and typed input',
  rules: {
    O147: {
      rule: 'In Chromium, Allow sends the code to the app for redirect URIs on `https`, on loopback with a port and with a private-use scheme, and from a pop-up.',
      source: 'RFC 9700 §4.2.4',
    },
    O148: {
      rule: 'Every form of our own pages redirects with 303 to a page, which has the status and `Retry-After` of the result, except if a limit rejects it before its body is read. Back, Forward and Reload show a usable page at every step and repeat no form. With JavaScript, a page from the back/forward cache of the browser is loaded again, so that no answered request and no signed-out user is shown. A double click on Allow, or going back and allowing again, issues one code; with JavaScript, the app receives it also after a double click. Authorization requests of two apps in two tabs do not interfere.',
      source: 'own',
    },
    O149: {
      rule: 'A one-time password may be typed with spaces, hyphens or full-width digits. A malformed one causes one error message, which describes the focused field (with `aria-invalid`). It does not count as an attempt.',
      source: 'own',
    },
    O150: {
      rule: 'A phone number may be typed in full-width or Arabic digits, or as it is dialled in the selected country, also with its international prefix such as 00 or 011. The default is `OTP_DEFAULT_COUNTRY`, else the country in the preferred languages of the browser. A number with `+` needs no country. A national number without a country causes an error message at the field. So do letters, too many digits, quotes and markup.',
      source: 'own',
    },
    O151: {
      rule: 'Requests of browser apps on other origins are not rejected for `Sec-Fetch-Site: cross-site`, neither at the token endpoint nor at `/dev/v1`.',
      source: 'own',
    },
    O152: {
      rule: 'With a plain-http `PUBLIC_URL` on loopback all pages work: none sends `Strict-Transport-Security` or `upgrade-insecure-requests`, and browsers store the cookies.',
      source: 'own',
    },
    O163: {
      rule: 'A phone number is not proof of a person, because carriers reassign numbers. `user import` and `user change-phone` move a number to another person only if the operator asks for it (`--reassign-phones`, `--reassign`), and end all access to both accounts first. `user import` finds a user by `external_id`, else by phone and name; a known phone with another name is refused. Each changed user has one audit event.',
      source: 'NIST SP 800-63B, "Use of the PSTN"; OWASP ASVS 5, 6.6.1',
    },
    O164: {
      rule: 'The name of an app and its publisher contain only visible characters: control, format, private-use and unassigned characters and letters without a glyph are rejected, also within emoji. A name that looks like that of another app, enabled or disabled, is rejected unless `--allow-similar-name` is given; the audit event then has the `client_id` of that app. Names look alike if their skeletons (UTS #39) differ only in letter case, white space, punctuation, symbols, combining marks such as accents, small capitals, `i` and `l`, and `w` and `vv`. A name without letters and digits is compared with its symbols.',
      source: 'UTS #39 §4',
    },
    O165: {
      rule: 'The command line and the log escape control characters, direction controls and other invisible characters as JSON does (`\\u202e`), in text and in JSON, except tabs, line feeds and variation selectors.',
      source: 'ECMA-48; UTR #36',
    },
    O166: {
      rule: 'Allow ignores clicks in the first 0.8 seconds after the consent page appears, also with reduced motion and without JavaScript. With JavaScript, so it does after the page regains focus or visibility, and it ignores the Enter key as long. No fragment in the link of the app scrolls to an element of the page or moves the focus: no element has an `id`, and `Document-Policy: force-load-at-top` disables text fragments in Chromium.',
      source: 'RFC 9700 §4.16',
    },
    O167: {
      rule: 'The page of the one-time password shows the guesses that are left after a wrong one, and when this browser can request a new one; it says nothing about requests of other browsers. Once the last one is expired, used or exhausted, the page offers a new one instead. A sign-in that is started again too early continues on this page, without an error. None of this differs for a number without an account.',
      source: 'own',
    },
    O168: {
      rule: 'Sign-in, consent and connected apps show the logo, the publisher and the verification of the app, as the operator registered them. Logos are PNG, JPEG or WebP by their content, at most 256 KiB, and are served from this server only. Pages load one picture from another origin: the photo of the signed-in user, without a `Referer`.',
      source: 'RFC 7591 §2',
    },
    O169: {
      rule: 'An error page names the app of the authorization request, if the request is of this browser, and links to its website, else to the site of its https redirect URI, whose host it names. It shows the error code and the request id, and links to the explanation of the code.',
      source: 'own',
    },
  },
};
