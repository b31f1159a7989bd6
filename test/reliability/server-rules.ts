import type { Topic } from './topic.js';

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
  title: 'Rate limits',
  rules: {
    O126: {
      rule: 'After 20 failed requests of one app from one address within 15 minutes, every further call that proves no secret is 429 with `error` `too_many_attempts`, an `error_description` that says how long to wait, `message` `Too many attempts`, `Retry-After` in whole seconds, and `no-store`. Requests of a confidential app that proved its secret never count as failed; neither does an expired or used code or refresh token that was once issued to the public app that sends it, as long as its row is kept (O142).',
      source: 'RFC 6585 §4; OAuth 2.1 draft §2.4.1',
    },
    O127: {
      rule: 'After 20 failures of one browser at sign-in and decision within 15 minutes, wrong passwords and forged forms together, the response is a page with 429, "Too many attempts" and `Retry-After`.',
      source: 'source document, section 8',
    },
    O128: {
      rule: 'The window rolls: what counts is the last 15 minutes, not a fixed quarter of an hour.',
      source: 'source document, section 8',
    },
    O129: {
      rule: 'Successful requests never count as failed attempts: a thousand refreshes from one address all succeed. All calls have limits of their own in 15 minutes: 7,500 for a confidential app from all of its addresses together, 7,500 for a public app from one address, and, from one address, 600 authorization requests and 1,800 steps of sign-in and decision. A process counts exactly, also under concurrency.',
      source: 'own',
    },
    O130: {
      rule: 'A caller that changes the `client_id` or the browser with every call stays within the limits of its address: 100 failures at the token endpoint, 60 on the pages. `X-Forwarded-For` is trusted for as many proxies as `TRUST_PROXY` says, which is a number; ports in it do not matter, and IPv6 addresses count by their /64.',
      source: 'own',
    },
    O131: {
      rule: "No caller can use up another's limit: failures under an app's `client_id` from another address or browser do not affect it, failures from its own address never refuse an app that proves its secret, and its calls are counted after authentication. What another site sends or loads in a visitor's browser (`Sec-Fetch-Site`, `Sec-Fetch-Dest`) is refused before it counts, unless the site belongs to an app that may call.",
      source: 'own',
    },
    O132: {
      rule: 'All processes share the failed attempts, which survive a restart; calls are counted in the memory of each process, which starts empty and holds at most 10,000 keys. A 429 spends no code and no refresh token and does not count, and failed attempts take a bounded number of rows: an address that changes its `client_id` leaves about two for each.',
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
      rule: 'Each hour one of all processes deletes what has expired, at most 1,000 rows at a time, found by an index. Used codes stay until their grant has ended, and used refresh tokens for a lifetime and a day after their use, so that one that comes back is still recognized; a refresh token that comes back later is `invalid_grant` and revokes nothing, but the answers of O96 are cleared once they may not be given again. Refreshes meanwhile notice nothing.',
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
      rule: 'A phone number in full-width or Arabic digits is understood, and one with the prefix for calls abroad of `OTP_DEFAULT_COUNTRY`, such as 00 or 011. The prefix differs by country, so without that setting it gets a message by the field. Letters, too many digits, quotes or markup get such a message, too.',
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
