import type { Topic } from './topic.js';

export const TRANSPORT: Topic = {
  title: 'Transport, routes and methods',
  rules: {
    C1: {
      rule: 'An unknown path under `/dev/v1` returns 404 `not_found` in the error format of the API. The body does not contain the path.',
      source: 'RFC 9110 §15.5.5',
    },
    C2: {
      rule: 'Any other unknown path outside of `/oauth` returns the same 404, and `/` returns a page for developers with 200.',
      source: 'own',
    },
    C3: {
      rule: 'PUT and PATCH of a post return 405 `method_not_allowed` with `Allow: DELETE, GET, HEAD, OPTIONS`.',
      source: 'RFC 9110 §15.5.6',
    },
    C4: {
      rule: 'Any other method that a path does not support, such as POST `/dev/v1/me` or DELETE `/dev/v1/posts`, returns 405 with exactly the methods of that path in `Allow`.',
      source: 'RFC 9110 §10.2.1, §15.5.6',
    },
    C5: {
      rule: 'GET of the token or revocation endpoint returns 405 with `Allow: OPTIONS, POST`.',
      source: 'RFC 6749 §3.2; RFC 7009 §2',
    },
    C6: {
      rule: 'TRACE and unknown methods return 405, or 400 from the HTTP parser. They never succeed and never cause a server error.',
      source: 'RFC 9110 §9.1',
    },
    C7: {
      rule: 'HEAD of `/me`, of the list of posts and of a post returns 200 with the headers of GET and no body.',
      source: 'RFC 9110 §9.3.2',
    },
    C8: {
      rule: 'A preflight from any origin to any path of the API returns 204. It allows every origin, the methods of the path, and all headers that it asks for, with `Access-Control-Max-Age` and `Vary`.',
      source: 'Fetch standard, CORS',
    },
    C9: {
      rule: 'A request from a browser on another site is served like any other. Its page may read the response and the headers `ETag`, `Idempotency-Replayed`, `Link`, `Location`, `RateLimit`, `RateLimit-Policy`, `Retry-After`, `WWW-Authenticate` and `X-Request-Id`.',
      source: 'Fetch standard, CORS',
    },
    C10: {
      rule: 'The authorization endpoint shares nothing with other origins: no preflight returns `Access-Control-Allow-Origin`.',
      source: 'RFC 9700 §2.6',
    },
    C11: {
      rule: 'OPTIONS that is not a preflight returns 204 with the `Allow` of C3 and C4.',
      source: 'RFC 9110 §9.3.7',
    },
    C12: {
      rule: 'A path has one spelling: with a trailing slash, a double slash or dot segments it returns 404.',
      source: 'own',
    },
    C13: {
      rule: 'Paths are case-sensitive: `/DEV/V1/ME` returns 404.',
      source: 'RFC 3986 §6.2.2.1',
    },
    C14: {
      rule: 'An invalid percent-encoding in a path returns 400 `invalid_request`, and the message says what is wrong.',
      source: 'RFC 3986 §2.1',
    },
    C15: {
      rule: 'A malformed id, such as one with NUL, with line breaks or of 5,000 characters, returns 404 and reaches neither database nor log.',
      source: 'own',
    },
    C16: {
      rule: 'Ids match character by character: an existing id in upper case, or with a trailing space, returns 404.',
      source: 'own',
    },
    C17: {
      rule: 'The id of another kind of object, such as a user or a comment, where the id of a post belongs, returns 404.',
      source: 'own',
    },
    C18: {
      rule: 'Percent-encoded dot segments are not resolved: they are an unknown id and return 404.',
      source: 'RFC 3986 §6.2.2.2',
    },
    C19: {
      rule: 'A request line or headers of more than 16 KB return 431, and the service continues.',
      source: 'RFC 6585 §5',
    },
    C20: {
      rule: 'A body that does not arrive in time returns 408 `request_timeout` and closes the connection.',
      source: 'RFC 9110 §15.5.9',
    },
    C21: {
      rule: 'A request with both `Transfer-Encoding` and `Content-Length` returns 400 and closes the connection, which prevents request smuggling.',
      source: 'RFC 9112 §6.1, §6.3',
    },
    C22: {
      rule: 'A client that disconnects before its body is complete is not an error of the service: the log has one line at level info, with status 499.',
      source: 'own',
    },
    C23: {
      rule: 'If a client disconnects while its post is being stored, the post exists once or not at all, and a retry with the same `Idempotency-Key` gets the missed response.',
      source: 'own',
    },
    C24: {
      rule: 'Links, redirects and metadata depend on the configuration only, not on `Host` or `X-Forwarded-Host`.',
      source: 'RFC 9110 §7.2',
    },
    C25: {
      rule: 'Without a trusted proxy, `X-Forwarded-For` is ignored: rate limits use the address of the connection.',
      source: 'own',
    },
    C26: {
      rule: 'Every response has an `X-Request-Id` that the server generates; error bodies, logs, the call log and the audit log have the same id. An `X-Request-Id` of the client never replaces it: if it has 1 to 64 letters, digits, dots, hyphens and underscores, the access log has it as `client_request_id`. Any other, and a repeated one, is ignored, which prevents log injection.',
      source: 'own',
    },
    C27: {
      rule: 'Of 1,000 concurrent GETs, many more than there are database connections, each gets a response within 10 seconds: 200, or 503 with `Retry-After`. Of the requests that a process runs at once, at most half are authenticated requests of one app, and at most half are token, revocation and introspection requests of public apps, all of them together, because anyone can send their ids. Further ones wait in a queue of the app, or of all public apps, so they do not delay other apps: not even if one app has 400 open API calls and as many token requests.',
      source: 'RFC 9110 §15.6.4',
    },
    C28: {
      rule: 'On SIGTERM `/readyz` returns 503 at once. New requests are served for `SHUTDOWN_DELAY_MS`, with `Connection: close`. Then the port closes, so that proxies send new requests to another process, and open connections are served for up to a second. Requests in progress are finished, and the process exits with code 0. With the 5 seconds of the default in production, no request is lost behind nginx and HAProxy with 50 idle connections in their pools.',
      source: 'own',
    },
  },
};

export const AUTHENTICATION: Topic = {
  title: 'Authentication and scopes',
  rules: {
    C29: {
      rule: 'Without `Authorization`, every endpoint of the API returns 401 `unauthorized` with `WWW-Authenticate: Bearer realm="dev"` and no `error` in it.',
      source: 'RFC 6750 §3.1',
    },
    C30: {
      rule: 'Another scheme, or `Bearer` without a token, returns 401 `unauthorized`. The scheme is case-insensitive.',
      source: 'RFC 9110 §11.1; RFC 6750 §2.1',
    },
    C31: {
      rule: 'A malformed or unknown access token returns 401 `invalid_token`. The server queries the database only for well-formed tokens.',
      source: 'RFC 6750 §3.1',
    },
    C32: {
      rule: 'An access token is accepted to the last millisecond of its hour. From then on it returns 401 `invalid_token`, and the message says that it has expired.',
      source: 'product requirements, section 5',
    },
    C33: {
      rule: 'A token that was revoked, whose user ended the grant, whose app is disabled or whose user was deleted returns 401 `invalid_token` from the next call on.',
      source: 'RFC 7009 §2; RFC 6750 §3.1',
    },
    C34: {
      rule: 'A refresh token, an authorization code or a client secret in place of an access token returns 401 `invalid_token`.',
      source: 'RFC 6750 §3.1',
    },
    C35: {
      rule: 'A token in the query or in the body is ignored: without the header the call returns 401 `unauthorized`.',
      source: 'RFC 9700 §4.3.2',
    },
    C36: {
      rule: 'Two `Authorization` headers return 400 `invalid_request`, and two tokens in one header return 401.',
      source: 'RFC 6750 §2, §3.1',
    },
    C37: {
      rule: 'A token with `%00`, of 8 KB or with non-ASCII characters returns 401. A NUL byte in a header returns 400 from the HTTP parser.',
      source: 'RFC 6750 §2.1',
    },
    C38: {
      rule: 'A token with every scope but the one of the endpoint returns 403 `insufficient_scope`, with that scope in `WWW-Authenticate`, at each of the nine endpoints.',
      source: 'product requirements, section 5; RFC 6750 §3.1',
    },
    C39: {
      rule: 'Authentication precedes validation: broken JSON without a token returns 401.',
      source: 'own',
    },
    C40: {
      rule: 'Broken JSON with a token of another scope returns 403.',
      source: 'own',
    },
    C41: {
      rule: 'Every operation on the post of another user returns 404 `not_found`, exactly as for a post that never existed.',
      source: 'product requirements, section 4.2',
    },
    C42: {
      rule: "A user may delete their own comment on another user's post.",
      source: 'product requirements, section 4.2',
    },
    C43: {
      rule: 'Deleting the comment of another user returns 404, even to the author of the post.',
      source: 'product requirements, section 4.2',
    },
    C44: {
      rule: 'Posts belong to the user, not to the app: another app sees them if the same user allowed both apps.',
      source: 'product requirements, section 4.2',
    },
  },
};

export const BODIES: Topic = {
  title: 'Bodies and JSON',
  rules: {
    C45: {
      rule: 'An empty or missing body returns 400 `invalid_request`.',
      source: 'RFC 8259 §2',
    },
    C46: {
      rule: 'Broken JSON returns 400 `invalid_request`, for example if it is truncated, has trailing data or contains `NaN`. The response repeats nothing of the body.',
      source: 'RFC 8259 §2, §6',
    },
    C47: {
      rule: 'JSON that is not an object, such as `null`, a string, a number or an array, returns 400 `invalid_request`.',
      source: 'product requirements, section 4',
    },
    C48: {
      rule: 'A `Content-Type` other than `application/json`, or none, returns 415 `unsupported_media_type`, with or without a body.',
      source: 'product requirements, section 4; RFC 9110 §15.5.16',
    },
    C49: {
      rule: 'A form returns 415, too, whatever its fields, and publishes nothing.',
      source: 'product requirements, section 4',
    },
    C50: {
      rule: 'The charset is `utf-8` or `utf8`, its subset `us-ascii`, or none, in any letter case, quoted or not. Any other charset returns 415 with a message about the charset. Other parameters are ignored.',
      source: 'RFC 8259 §8.1, §11; RFC 9110 §8.3.1; RFC 2045 §1',
    },
    C51: {
      rule: 'Other JSON-based types, such as `application/vnd.api+json`, return 415.',
      source: 'product requirements, section 4',
    },
    C52: {
      rule: 'A byte order mark before the JSON is ignored.',
      source: 'RFC 8259 §8.1',
    },
    C53: {
      rule: 'Bytes that are not valid UTF-8 return 400 with `not_well_formed`. The server never replaces them.',
      source: 'RFC 3629 §3',
    },
    C54: {
      rule: 'Bodies in gzip, br or deflate are decompressed. Any other `Content-Encoding` returns 415. A body that would inflate to a gigabyte returns 413, without being inflated as a whole.',
      source: 'RFC 9110 §8.4',
    },
    C55: {
      rule: 'A body may have 262,144 bytes after decompression. One byte more returns 413 `payload_too_large`.',
      source: 'RFC 9110 §15.5.14',
    },
    C56: {
      rule: 'A body may have 20 levels of nesting, of which the outermost object is the first. Deeper ones return 400 with `too_deep`; 50,000 levels take at most 50 milliseconds.',
      source: 'RFC 8259 §9',
    },
    C57: {
      rule: 'The response lists at most 20 violations. A body of the maximum size with only unknown fields is rejected within 200 milliseconds, and one with 100,000 fields returns 413.',
      source: 'own',
    },
    C58: {
      rule: 'If two members have the same name, the last one is used.',
      source: 'RFC 8259 §4',
    },
    C59: {
      rule: 'Members named `__proto__`, `constructor`, `prototype` or like any other inherited property of objects return 400 with `unknown_field`, also in nested objects, and have no effect.',
      source: 'own',
    },
    C60: {
      rule: 'Read-only fields, such as `id`, `createdAt` or `permalink`, return 400 with `unknown_field` for each of them.',
      source: 'product requirements, section 2',
    },
    C61: {
      rule: 'An unknown field returns 400 with `unknown_field`, so that a misspelt `latitude` does not publish a post at the wrong place. The message suggests the nearest field and lists all fields.',
      source: 'own',
    },
  },
};
