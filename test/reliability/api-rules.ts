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

export const FIELDS: Topic = {
  title: 'Fields of posts and comments',
  rules: {
    C62: {
      rule: 'Nothing is converted: a number, a boolean, an object or an array in the place of a text is 400 with `wrong_type`. `null` is the same as leaving the field out.',
      source: 'source document, section 2',
    },
    C63: {
      rule: 'A post without title, content and images is 400 with `one_of_required`, also when the list of images is empty. A text of which nothing is visible is `blank`.',
      source: 'source document, section 2',
    },
    C64: {
      rule: 'A title alone is a post, as are content alone and images alone.',
      source: 'source document, section 2',
    },
    C65: {
      rule: 'Content has 1 to 10,000 characters. The unit of this and of every other length of a text is the Unicode code point: 10,000 emoji fit, and variation selectors count.',
      source: 'own',
    },
    C66: {
      rule: 'Texts come back byte for byte, in any script, with joined emoji, flags and any number of combining marks. Nothing is normalized.',
      source: 'own',
    },
    C67: {
      rule: 'A text with half of a surrogate pair is 400 with `not_well_formed`.',
      source: 'RFC 8259 §8.2',
    },
    C68: {
      rule: 'Control characters are 400 with `control_character`. Tabs and line breaks of any kind may stand in content and comments, and stay as they are.',
      source: 'own',
    },
    C69: {
      rule: 'Markup, templates, SQL, paths and formulas are texts like any other: they come back as they were sent, and are escaped on our pages.',
      source: 'own',
    },
    C70: {
      rule: 'A title has 1 to 300 characters on one line.',
      source: 'own',
    },
    C71: {
      rule: 'A post has up to 20 tags of 1 to 50 characters on one line, none of them blank. They are kept as they were sent, with their letter case and repeats.',
      source: 'own',
    },
    C72: {
      rule: 'A post has up to 10 images, each an absolute `http` or `https` URL of at most 2,048 bytes without user name, password or spaces. They are kept as they were sent and never fetched, wherever they lead.',
      source: 'RFC 3986 §3',
    },
    C73: {
      rule: 'Latitudes go from -90 to 90 and longitudes from -180 to 180. A number beyond, be it `1e400`, is `too_large` or `too_small`; a number in quotes is `wrong_type`.',
      source: 'own',
    },
    C74: {
      rule: 'Latitude without longitude, or the reverse, is 400 with `pair_required` for the one that is missing.',
      source: 'own',
    },
    C75: {
      rule: 'Numbers come back equal to the last digit.',
      source: 'source document, section 4.2',
    },
    C76: {
      rule: '`reachKm` goes from 0.001 to 100.',
      source: 'own',
    },
    C77: {
      rule: '`visibility` is `public`, `neighborhood` or `private`, letter by letter; anything else is `not_allowed_value`, and the message lists the three. `type` is 1 to 32 lower-case letters, digits, hyphens and underscores, and starts with a letter; anything else is `invalid_format`.',
      source: 'own',
    },
    C78: {
      rule: 'A new post is 201 with exactly the fields that were sent plus `id`, `permalink` and `createdAt`. GET of its `Location` finds it.',
      source: 'source document, section 4.2; RFC 9110 §15.3.2',
    },
    C79: {
      rule: 'Times are UTC with three digits of milliseconds and a `Z`, also when those are zero, and wherever the service and its database think they are.',
      source: 'source document, section 2',
    },
    C80: {
      rule: 'The text of a comment is required and has 1 to 2,000 characters, not blank.',
      source: 'source document, section 8',
    },
    C81: {
      rule: '`parentId` is null, absent, or the id of a comment on the same post. A comment that does not exist, was deleted or is on another post is 400 with `invalid_reference`, as is what could not be an id. Replies of a deleted comment stay.',
      source: 'source document, section 4.2',
    },
    C82: {
      rule: 'A comment on a post that was deleted, is of another user or never existed is 404 `not_found`.',
      source: 'source document, section 4.2',
    },
    C83: {
      rule: 'A reply can be replied to, 50 times over.',
      source: 'source document, section 2',
    },
    C84: {
      rule: 'A body on GET or DELETE, even a malformed one, changes nothing about the answer.',
      source: 'RFC 9110 §9.3.1, §9.3.5',
    },
  },
};

export const LISTS: Topic = {
  title: 'Queries and lists',
  rules: {
    C85: {
      rule: 'A list without a query is its first page of 20 items, and `page`, `limit` and `total` are integers.',
      source: 'source document, section 2',
    },
    C86: {
      rule: '`page` is a whole number from 1 to 1,000,000, written without sign, leading zero, exponent or spaces. Anything else is 400 and names `page`.',
      source: 'source document, section 4.2',
    },
    C87: {
      rule: '`limit` goes from 1 to 50 for posts and to 100 for comments. Beyond, it is 400 and not cut down silently.',
      source: 'source document, section 8',
    },
    C88: {
      rule: 'A parameter that comes twice is 400. `page[]` and `page[a]` are names of unknown parameters, which are ignored.',
      source: 'own',
    },
    C89: {
      rule: 'A page far behind the end is 200 with no items and the right `total`, as fast as the first one.',
      source: 'own',
    },
    C90: {
      rule: 'Who walks a list page by page while others add and delete gets no error and no item twice on one page. Following the `next` links neither repeats nor skips what was there all the time.',
      source: 'own',
    },
    C91: {
      rule: 'Items of the same millisecond have a fixed order.',
      source: 'own',
    },
    C92: {
      rule: 'What was deleted is neither listed nor counted.',
      source: 'source document, section 3',
    },
    C93: {
      rule: '`total` equals the number of items, however many were added and deleted at once.',
      source: 'own',
    },
    C94: {
      rule: '`Link` names `first`, `prev`, `next` and `last` where there are such pages, and keeps the `limit`.',
      source: 'RFC 8288 §3',
    },
    C95: {
      rule: 'Unknown query parameters are ignored, a thousand of them and one named `__proto__` as well.',
      source: 'own',
    },
    C96: {
      rule: 'Of a user with 100,000 posts, page 2,000 takes less than 100 milliseconds in 95 of 100 cases, and reads no post that it does not show.',
      source: 'own',
    },
  },
};

export const QUOTA: Topic = {
  title: 'Idempotency, quota and concurrency',
  rules: {
    C97: {
      rule: 'The same request with the same `Idempotency-Key` makes one post and spends one of the quota. Its second answer has the same status and bytes, and `Idempotency-Replayed: true`.',
      source: 'Idempotency-Key draft §2.6',
    },
    C98: {
      rule: 'Of 50 such requests at once in three processes one publishes. The others get its answer, or 409 `idempotency_key_in_use` with `Retry-After`.',
      source: 'Idempotency-Key draft §2.6, §2.7',
    },
    C99: {
      rule: 'A key that comes back with another body or to another endpoint is 422 `idempotency_key_reused`. Keys of other users and other apps have nothing to do with it.',
      source: 'Idempotency-Key draft §2.7',
    },
    C100: {
      rule: 'A key is 1 to 255 visible ASCII characters, which are compared as they are: quotes belong to it. Anything else is 400.',
      source: 'Idempotency-Key draft §2.1',
    },
    C101: {
      rule: 'What was refused with 400 or 429 is not kept: the corrected request with the same key is carried out.',
      source: 'own',
    },
    C102: {
      rule: 'A key is kept for 24 hours. After that it makes a new post, whether it has been pruned or not.',
      source: 'Idempotency-Key draft §2.3',
    },
    C103: {
      rule: 'With a quota of 100, 300 publishes at once over three processes make exactly 100 posts and 200 times 429. Posts, quota and recorded calls agree.',
      source: 'source document, section 8',
    },
    C104: {
      rule: 'The API answers in JSON whatever `Accept` says, or does not say.',
      source: 'RFC 9110 §12.5.1',
    },
    C105: {
      rule: 'A spent quota is 429 `quota_exceeded` with `error` and `error_description`, with `Retry-After` up to the start of the next month in UTC and `RateLimit` with nothing left, which asks for no longer wait.',
      source: 'source document, section 7; RateLimit header draft',
    },
    C106: {
      rule: 'A new post comes with `RateLimit-Policy`, which tells quota and seconds of the month, and with `RateLimit`, whose rest falls by one.',
      source: 'RateLimit header draft',
    },
    C107: {
      rule: 'An invalid post is 400 also when the quota is spent.',
      source: 'own',
    },
    C108: {
      rule: 'Deleting a post gives no quota back.',
      source: 'source document, section 8',
    },
    C109: {
      rule: 'A post counts in the calendar month, in UTC, of its `createdAt`, to the millisecond. Its recorded call and its quota are of the same month.',
      source: 'source document, section 8',
    },
    C110: {
      rule: 'A limit that the operator changes holds from the next call on, be it below what was used, higher or 0. An unlimited app gets no `RateLimit`.',
      source: 'source document, section 8',
    },
    C111: {
      rule: 'The monthly job makes no difference: run twice, in two places, late or never, the quota is the same.',
      source: 'own',
    },
    C112: {
      rule: 'When a process is killed between counting a post and committing it, posts, quota and recorded calls still agree.',
      source: 'own',
    },
    C113: {
      rule: 'While the database restarts or hangs, calls are 503 with `Retry-After` in time. When it is back, the service goes on by itself, and every post that was acknowledged is there.',
      source: 'own',
    },
    C114: {
      rule: 'A publish that the database ends because of a deadlock is tried again, at most three times, and is a 201.',
      source: 'own',
    },
    C116: {
      rule: 'Of two DELETEs of one post or comment at once one is 200 and one 404, and counters fall by one.',
      source: 'source document, section 3',
    },
  },
};

export const DOCUMENTS: Topic = {
  title: 'Documents and pages',
  rules: {
    C117: {
      rule: 'A GET whose `If-None-Match` names the `ETag` of the answer is 304.',
      source: 'RFC 9110 §13.1.2',
    },
    C139: {
      rule: '`/openapi.json` is a valid OpenAPI document without a finding of its linter and equals the committed file. Every operation has all of its statuses, with examples that fit their schemas.',
      source: 'OpenAPI 3.1',
    },
    C140: {
      rule: 'Every answer of the whole test run fits the published document: its status, its headers and its body.',
      source: 'own',
    },
    C141: {
      rule: 'Of requests that are made up from the published document, valid ones are never 400, invalid ones never succeed, and none makes the service fail.',
      source: 'own',
    },
    C142: {
      rule: 'In Chromium, a developer signs in from the API documentation, allows it, and tries GET `/me`: 200, without a breach of the content security policy.',
      source: 'own',
    },
    C143: {
      rule: 'The pages of sign-in, one-time password, consent and connected apps work without JavaScript, by keyboard alone, 320 pixels wide, at 400 % and in forced colours, and axe finds nothing.',
      source: 'WCAG 2.2',
    },
    C144: {
      rule: 'The types that are generated from the published document compile, and a client made of them runs against the service.',
      source: 'own',
    },
    C145: {
      rule: '`/livez` is 200 without a database. `/readyz` is 503 while the database is away or too slow, migrations are pending, the clock is off or the service is shutting down. Metrics are on the port of the operator only.',
      source: 'own',
    },
  },
};
