import type { Topic } from './topic.js';

export const TRANSPORT: Topic = {
  title: 'Transport, routes and methods',
  rules: {
    C1: {
      rule: 'A path under `/dev/v1` that does not exist is 404 `not_found`, in the error body of the API and without the path in it.',
      source: 'RFC 9110 §15.5.5',
    },
    C2: {
      rule: 'Any other unknown path outside of `/oauth` is the same 404, and `/` is a page for developers with 200.',
      source: 'own',
    },
    C3: {
      rule: 'PUT and PATCH of a post are 405 `method_not_allowed` with `Allow: DELETE, GET, HEAD, OPTIONS`.',
      source: 'RFC 9110 §15.5.6',
    },
    C4: {
      rule: 'So is any other method that a path does not take, such as POST `/dev/v1/me` or DELETE `/dev/v1/posts`, with exactly the methods of that path in `Allow`.',
      source: 'RFC 9110 §10.2.1, §15.5.6',
    },
    C5: {
      rule: 'GET of the token or revocation endpoint is 405 with `Allow: OPTIONS, POST`.',
      source: 'RFC 6749 §3.2; RFC 7009 §2',
    },
    C6: {
      rule: 'TRACE and invented methods are 405, or 400 before the request reaches the service; they never succeed and never make it fail.',
      source: 'RFC 9110 §9.1',
    },
    C7: {
      rule: 'HEAD of `/me`, of the list of posts and of a post is 200 with the headers of GET and no body.',
      source: 'RFC 9110 §9.3.2',
    },
    C8: {
      rule: 'A preflight from any origin to any path of the API is 204. It allows every origin, the methods of the path, and the headers `Authorization`, `Content-Type` and `Idempotency-Key` among others, with `Access-Control-Max-Age` and `Vary`.',
      source: 'Fetch standard, CORS',
    },
    C9: {
      rule: 'A call from a browser on another site is answered like any other, never refused. Its page may read the answer and the headers `ETag`, `Idempotency-Replayed`, `Link`, `Location`, `RateLimit`, `RateLimit-Policy`, `Retry-After`, `WWW-Authenticate` and `X-Request-Id`.',
      source: 'Fetch standard, CORS',
    },
    C10: {
      rule: 'The authorization endpoint lets no other origin read anything: it answers no preflight with `Access-Control-Allow-Origin`.',
      source: 'RFC 9700 §2.6',
    },
    C11: {
      rule: 'OPTIONS without a preflight is 204 with the `Allow` of C3 and C4.',
      source: 'RFC 9110 §9.3.7',
    },
    C12: {
      rule: 'A path has one spelling: with a slash at its end, two slashes in a row or dot segments it is 404.',
      source: 'own',
    },
    C13: {
      rule: 'Letter case counts in paths: `/DEV/V1/ME` is 404.',
      source: 'RFC 3986 §6.2.2.1',
    },
    C14: {
      rule: 'A broken percent-encoding in a path is 400 `invalid_request`, and the text says what is wrong.',
      source: 'RFC 3986 §2.1',
    },
    C15: {
      rule: 'An id that could not be one, with NUL, with line breaks or 5,000 characters long, is 404 and reaches neither database nor log.',
      source: 'own',
    },
    C16: {
      rule: 'Ids match character by character: a real one in upper case, or with a space at its end, is 404.',
      source: 'own',
    },
    C17: {
      rule: 'The id of something else, such as a user or a comment, is 404 where the id of a post belongs.',
      source: 'own',
    },
    C18: {
      rule: 'Dot segments that are percent-encoded stay what they are, an id that nobody has: 404.',
      source: 'RFC 3986 §6.2.2.2',
    },
    C19: {
      rule: 'A request line or headers of more than 16 KB are 431, and the service goes on.',
      source: 'RFC 6585 §5',
    },
    C20: {
      rule: 'A body that does not arrive in time is 408 `request_timeout`, and the connection is closed.',
      source: 'RFC 9110 §15.5.9',
    },
    C21: {
      rule: 'A request with both `Transfer-Encoding` and `Content-Length` is 400 and closes the connection, so that nothing is smuggled behind it.',
      source: 'RFC 9112 §6.1, §6.3',
    },
    C22: {
      rule: 'A client that leaves before its body is complete is no error of the service: the log has one line at info, with the status 499.',
      source: 'own',
    },
    C23: {
      rule: 'When a client leaves while its post is being stored, the post exists once or not at all, and a repeat with the same `Idempotency-Key` gets the answer that was missed.',
      source: 'own',
    },
    C24: {
      rule: 'Links, redirects and metadata are made from the configuration alone: neither `Host` nor `X-Forwarded-Host` changes them.',
      source: 'RFC 9110 §7.2',
    },
    C25: {
      rule: 'Without a trusted proxy `X-Forwarded-For` is not believed: budgets count by the address of the connection.',
      source: 'own',
    },
    C26: {
      rule: 'An `X-Request-Id` of 1 to 64 letters, digits, dots, hyphens and underscores is taken over. Any other is replaced, so nobody writes into the log with it.',
      source: 'own',
    },
    C27: {
      rule: 'Of 1,000 GETs at once, many more than there are connections to the database, each is answered: 200, or 503 with `Retry-After` in time.',
      source: 'RFC 9110 §15.6.4',
    },
    C28: {
      rule: 'On SIGTERM `/readyz` is 503 at once. Requests that are under way are finished, new ones on open connections get 503 with `Connection: close`, and the process ends with exit code 0.',
      source: 'own',
    },
  },
};

export const AUTHENTICATION: Topic = {
  title: 'Authentication and scopes',
  rules: {
    C29: {
      rule: 'Without `Authorization` every endpoint of the API is 401 `unauthorized` with `WWW-Authenticate: Bearer realm="dev"`, which names no error.',
      source: 'RFC 6750 §3.1',
    },
    C30: {
      rule: 'Another scheme, or `Bearer` without a token, is 401 `unauthorized`. The letter case of the scheme does not count.',
      source: 'RFC 9110 §11.1; RFC 6750 §2.1',
    },
    C31: {
      rule: 'What could not be an access token, or is none of this service, is 401 `invalid_token`. The database is asked only about what has the form of one.',
      source: 'RFC 6750 §3.1',
    },
    C32: {
      rule: 'An access token works to the last millisecond of its hour. From then on it is 401 `invalid_token`, and the text says that it expired.',
      source: 'source document, section 5',
    },
    C33: {
      rule: 'A token that was revoked, whose grant was ended by its user, whose app is disabled or whose user is gone is 401 `invalid_token` from the next call on.',
      source: 'RFC 7009 §2; RFC 6750 §3.1',
    },
    C34: {
      rule: 'A refresh token, an authorization code or a client secret in the place of an access token is 401 `invalid_token`.',
      source: 'RFC 6750 §3.1',
    },
    C35: {
      rule: 'A token in the query or in the body does not count: without the header the call is 401 `unauthorized`.',
      source: 'RFC 9700 §4.3.2',
    },
    C36: {
      rule: 'Two `Authorization` headers are 400 `invalid_request`, and two tokens in one header are 401.',
      source: 'RFC 6750 §2, §3.1',
    },
    C37: {
      rule: 'A token with NUL, of 8 KB or outside of ASCII is 401.',
      source: 'RFC 6750 §2.1',
    },
    C38: {
      rule: 'A token with every scope but the one of the endpoint is 403 `insufficient_scope`, with that scope in `WWW-Authenticate`. It holds for each of the nine endpoints.',
      source: 'source document, section 5; RFC 6750 §3.1',
    },
    C39: {
      rule: 'Who calls comes before what is sent: broken JSON without a token is 401.',
      source: 'own',
    },
    C40: {
      rule: 'Broken JSON with a token of another scope is 403.',
      source: 'own',
    },
    C41: {
      rule: 'Whatever is asked of the post of another user, the answer is 404 `not_found` and cannot be told from the one for a post that never existed.',
      source: 'source document, section 4.2',
    },
    C42: {
      rule: "A user may delete their own comment on another user's post.",
      source: 'source document, section 4.2',
    },
    C43: {
      rule: "The comment of another user is 404 to who wants to delete it, also to the post's owner.",
      source: 'source document, section 4.2',
    },
    C44: {
      rule: 'Posts belong to the user, not to the app: what one app published another one sees, when the same user allowed both.',
      source: 'source document, section 4.2',
    },
  },
};

export const BODIES: Topic = {
  title: 'Bodies and JSON',
  rules: {
    C45: {
      rule: 'An empty body, or none, is 400 `invalid_request`.',
      source: 'RFC 8259 §2',
    },
    C46: {
      rule: 'Broken JSON is 400 `invalid_request`, be it cut short, followed by something or with `NaN` in it. Nothing of what was sent comes back.',
      source: 'RFC 8259 §2, §6',
    },
    C47: {
      rule: 'JSON that is no object, such as `null`, a string, a number or an array, is 400 `invalid_request`.',
      source: 'source document, section 4',
    },
    C48: {
      rule: 'Any other `Content-Type` than `application/json`, or none, is 415 `unsupported_media_type`, with a body or without.',
      source: 'source document, section 4; RFC 9110 §15.5.16',
    },
    C49: {
      rule: 'So is a form, whatever its fields are called: nothing is published.',
      source: 'source document, section 4',
    },
    C50: {
      rule: 'The charset is UTF-8, in any letter case and in quotes or not. Another one is 415.',
      source: 'RFC 8259 §8.1, §11',
    },
    C51: {
      rule: 'Other types made of JSON, such as `application/vnd.api+json`, are 415.',
      source: 'source document, section 4',
    },
    C52: {
      rule: 'A byte order mark before the JSON is ignored.',
      source: 'RFC 8259 §8.1',
    },
    C53: {
      rule: 'Bytes that are not UTF-8 are 400 with `not_well_formed`, and are never replaced by others.',
      source: 'RFC 3629 §3',
    },
    C54: {
      rule: 'Bodies in gzip, br or deflate are read. Another `Content-Encoding` is 415, and what inflates to a gigabyte is 413 before it is inflated.',
      source: 'RFC 9110 §8.4',
    },
    C55: {
      rule: 'A body may have 262,144 bytes, after decompression. One byte more is 413 `payload_too_large`.',
      source: 'RFC 9110 §15.5.14',
    },
    C56: {
      rule: 'A body may be nested 20 levels deep, itself included. Deeper ones are 400 with `too_deep`, 50,000 levels within 50 milliseconds.',
      source: 'RFC 8259 §9',
    },
    C57: {
      rule: 'At most 20 violations are listed. A body full of unknown fields is refused as fast as any, and one of 100,000 fields is too large.',
      source: 'own',
    },
    C58: {
      rule: 'Of two members with the same name the last counts.',
      source: 'RFC 8259 §4',
    },
    C59: {
      rule: 'Members named `__proto__`, `constructor`, `prototype` or like anything else that every object inherits are 400 with `unknown_field`, also inside of a field, and change nothing.',
      source: 'own',
    },
    C60: {
      rule: 'What the service sets itself, such as `id`, `createdAt` or `permalink`, is 400 with `unknown_field` for each that was sent.',
      source: 'source document, section 2',
    },
    C61: {
      rule: 'An unknown field is 400 with `unknown_field`, so that a misspelt `latitude` is not published at the wrong place. The message asks whether the nearest field was meant, and lists all.',
      source: 'own',
    },
  },
};
