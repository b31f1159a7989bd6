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
