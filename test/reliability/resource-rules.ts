import type { Topic } from './topic.js';

export const FIELDS: Topic = {
  title: 'Fields of posts and comments',
  rules: {
    C62: {
      rule: 'Types are not converted: a number, a boolean, an object or an array in place of a text returns 400 with `wrong_type`. `null` is treated as an omitted field.',
      source: 'product requirements, section 2',
    },
    C63: {
      rule: 'A post without title, content and images returns 400 with `one_of_required`, also if the list of images is empty. A text without a visible character is `blank`.',
      source: 'product requirements, section 2',
    },
    C64: {
      rule: 'Title, content or images alone are enough for a post.',
      source: 'product requirements, section 2',
    },
    C65: {
      rule: 'Content has 1 to 10,000 characters. Lengths of texts are counted in Unicode code points: 10,000 emoji fit, and variation selectors count.',
      source: 'own',
    },
    C66: {
      rule: 'Texts are returned byte for byte, in any script, with joined emoji, flags and any number of combining marks. Nothing is normalized.',
      source: 'own',
    },
    C67: {
      rule: 'A text with a lone surrogate returns 400 with `not_well_formed`.',
      source: 'RFC 8259 §8.2',
    },
    C68: {
      rule: 'Control characters return 400 with `control_character`. Tabs and line breaks of any kind are allowed in content and comments and returned unchanged.',
      source: 'own',
    },
    C69: {
      rule: 'Markup, templates, SQL, paths and formulas are ordinary texts: the API returns them unchanged, and the pages of the service escape them.',
      source: 'own',
    },
    C70: {
      rule: 'A title has 1 to 300 characters on one line.',
      source: 'own',
    },
    C71: {
      rule: 'A post has up to 20 tags of 1 to 50 characters on one line, none of them blank. They are stored unchanged, including letter case and duplicates.',
      source: 'own',
    },
    C72: {
      rule: 'A post has up to 10 images, each an `http://` or `https://` URL that the URL Standard parses, without user name, password, white space, control characters or backslashes. It has at most 2,048 characters, of which at most 1,000 are not ASCII. The URLs are stored unchanged and never fetched.',
      source: 'RFC 3986 §3',
    },
    C73: {
      rule: 'Latitudes range from -90 to 90 and longitudes from -180 to 180. A number outside the range, even `1e400`, is `too_large` or `too_small`; a number in quotes is `wrong_type`.',
      source: 'own',
    },
    C74: {
      rule: 'Latitude without longitude, or the reverse, returns 400 with `pair_required` for the missing one.',
      source: 'own',
    },
    C75: {
      rule: 'A number in a response equals the number that the client sent, to the last digit.',
      source: 'product requirements, section 4.2',
    },
    C76: {
      rule: '`reachKm` ranges from 0.001 to 100.',
      source: 'own',
    },
    C77: {
      rule: '`visibility` is exactly `public`, `neighborhood` or `private`; anything else is `not_allowed_value`, and the message lists the three. `type` is 1 to 32 lower-case letters, digits, hyphens and underscores, and starts with a letter; anything else is `invalid_format`.',
      source: 'own',
    },
    C78: {
      rule: 'A new post returns 201 with exactly the fields that were sent plus `id`, `permalink` and `createdAt`. GET of its `Location` returns it.',
      source: 'product requirements, section 4.2; RFC 9110 §15.3.2',
    },
    C79: {
      rule: 'Times are in UTC with three digits of milliseconds and a `Z`, also if the milliseconds are zero, and independent of the time zones of service and database.',
      source: 'product requirements, section 2',
    },
    C80: {
      rule: 'The text of a comment is required and has 1 to 2,000 characters, not blank.',
      source: 'product requirements, section 8',
    },
    C81: {
      rule: '`parentId` is null, absent, or the id of a comment on the same post. A comment that does not exist, was deleted or is on another post returns 400 with `invalid_reference`, as does a malformed id. Replies to a deleted comment remain.',
      source: 'product requirements, section 4.2',
    },
    C82: {
      rule: 'A comment on a post that was deleted, belongs to another user or never existed returns 404 `not_found`.',
      source: 'product requirements, section 4.2',
    },
    C83: {
      rule: 'Replies can be nested at least 50 levels deep.',
      source: 'product requirements, section 2',
    },
    C84: {
      rule: 'A body on GET or DELETE, even a malformed one, does not affect the response.',
      source: 'RFC 9110 §9.3.1, §9.3.5',
    },
  },
};

export const LISTS: Topic = {
  title: 'Queries and lists',
  rules: {
    C85: {
      rule: 'A list without a query returns its first page of 20 items, and `page`, `limit` and `total` are integers.',
      source: 'product requirements, section 2',
    },
    C86: {
      rule: '`page` is an integer from 1 to 1,000,000, without sign, leading zero, exponent or spaces. An empty `page` counts as absent. Anything else returns 400 and names `page`.',
      source: 'product requirements, section 4.2',
    },
    C87: {
      rule: '`limit` ranges from 1 to 50 for posts and to 100 for comments. Any other value returns 400; it is not reduced silently.',
      source: 'product requirements, section 8',
    },
    C88: {
      rule: 'A repeated parameter returns 400. `page[]` and `page[a]` are unknown parameters, which are ignored.',
      source: 'own',
    },
    C89: {
      rule: 'A page far beyond the end returns 200 with no items and the correct `total`, and takes little longer than the first page.',
      source: 'own',
    },
    C90: {
      rule: 'Reading a list page by page during concurrent inserts and deletions causes no error and repeats no item within a page. The `next` links neither repeat nor skip an item that existed throughout.',
      source: 'own',
    },
    C91: {
      rule: 'Items of the same millisecond have a fixed order.',
      source: 'own',
    },
    C92: {
      rule: 'Deleted items are neither listed nor counted.',
      source: 'product requirements, section 3',
    },
    C93: {
      rule: '`total` equals the number of items, also after concurrent inserts and deletions.',
      source: 'own',
    },
    C94: {
      rule: '`Link` contains `first`, `prev`, `next` and `last` if these pages exist, and preserves the `limit`.',
      source: 'RFC 8288 §3',
    },
    C95: {
      rule: 'Unknown query parameters are ignored, even a thousand of them or one named `__proto__`.',
      source: 'own',
    },
    C96: {
      rule: 'For a user with 100,000 posts, page 2,000 takes less than 100 milliseconds in 95 of 100 cases and reads no post that it does not return.',
      source: 'own',
    },
  },
};

export const QUOTA: Topic = {
  title: 'Idempotency, quota and concurrency',
  rules: {
    C97: {
      rule: 'The same request with the same `Idempotency-Key` creates one post and uses one post of the quota. The second response has the same status and bytes, and `Idempotency-Replayed: true`.',
      source: 'Idempotency-Key draft §2.6',
    },
    C98: {
      rule: 'Of 50 concurrent requests with one key to three processes, one publishes. The others get its response, or 409 `idempotency_key_in_use` with `Retry-After`.',
      source: 'Idempotency-Key draft §2.6, §2.7',
    },
    C99: {
      rule: 'A key that is reused with another body or at another endpoint returns 422 `idempotency_key_reused`. Keys of other users and other apps are independent.',
      source: 'Idempotency-Key draft §2.7',
    },
    C100: {
      rule: 'A key is 1 to 255 visible ASCII characters, compared literally: quotes are part of the key. Anything else returns 400.',
      source: 'Idempotency-Key draft §2.1',
    },
    C101: {
      rule: 'Responses with 400 or 429 are not stored: the corrected request with the same key is executed.',
      source: 'own',
    },
    C102: {
      rule: 'A key is valid for 24 hours. After that it creates a new post, even if its row has not been pruned.',
      source: 'Idempotency-Key draft §2.3',
    },
    C103: {
      rule: 'With a quota of 100, 300 concurrent publishes to three processes create exactly 100 posts, and the other 200 return 429. Posts, quota and recorded calls agree.',
      source: 'product requirements, section 8',
    },
    C104: {
      rule: 'The API returns JSON regardless of `Accept`.',
      source: 'RFC 9110 §12.5.1',
    },
    C105: {
      rule: 'An exhausted quota returns 429 `quota_exceeded` with `error` and `error_description`. `Retry-After` is the time until the next month in UTC, but at most a week, because common HTTP libraries repeat a request at once if `Retry-After` is longer than their timers. `error_description` and `RateLimit`, which shows 0 remaining, state the time of the reset.',
      source: 'product requirements, section 7; RateLimit header draft',
    },
    C106: {
      rule: 'A new post returns `RateLimit-Policy` with the quota and the seconds of the month, and `RateLimit`, whose remaining number decreases by one.',
      source: 'RateLimit header draft',
    },
    C107: {
      rule: 'An invalid post returns 400 even if the quota is exhausted.',
      source: 'own',
    },
    C108: {
      rule: 'Deleting a post does not restore quota.',
      source: 'product requirements, section 8',
    },
    C109: {
      rule: 'A post counts in the calendar month, in UTC, of its `createdAt`, to the millisecond. Its recorded call and its quota are in the same month.',
      source: 'product requirements, section 8',
    },
    C110: {
      rule: 'A quota that the operator changes applies from the next call on, even if it is lower than the number already used, or 0. An app without a limit gets no `RateLimit`.',
      source: 'product requirements, section 8',
    },
    C111: {
      rule: 'The monthly job, which stores the plan and limit of past months, does not affect the quota, whether it runs twice, in two processes, late or never.',
      source: 'own',
    },
    C112: {
      rule: 'If a process is killed between counting a post and committing it, posts, quota and recorded calls still agree.',
      source: 'own',
    },
    C113: {
      rule: 'While the database restarts or hangs, calls return 503 with `Retry-After` within the time that [Database unavailable](#database-unavailable) states. The service recovers by itself, and every confirmed post is stored.',
      source: 'own',
    },
    C114: {
      rule: 'If the database rolls back a publish because of a deadlock, the server retries it up to three times. The response is 201, or 503 with `Retry-After` after a fourth deadlock.',
      source: 'own',
    },
    C116: {
      rule: 'Of two concurrent DELETEs of one post or comment, one returns 200 and one 404, and counters decrease by one.',
      source: 'product requirements, section 3',
    },
  },
};

export const DOCUMENTS: Topic = {
  title: 'Documents and pages',
  rules: {
    C117: {
      rule: 'A GET whose `If-None-Match` contains the current `ETag` of the resource returns 304.',
      source: 'RFC 9110 §13.1.2',
    },
    C139: {
      rule: '`/openapi.json` is a valid OpenAPI document, passes the linter and equals the committed file. Every operation documents each status that it can return, with examples that match their schemas.',
      source: 'OpenAPI 3.1',
    },
    C140: {
      rule: 'Every response of a documented operation, in every test, matches the published document in status, headers and body.',
      source: 'own',
    },
    C141: {
      rule: 'Of requests that are generated from the published document, valid ones are never rejected as malformed, invalid ones never succeed, and none causes a server error. A valid OAuth request may still return an error that its schema cannot express, such as `invalid_grant` for an unknown code.',
      source: 'own',
    },
    C142: {
      rule: 'In Chromium, a developer signs in from the API documentation, allows access, and gets 200 from GET `/me`, without a violation of the content security policy.',
      source: 'own',
    },
    C143: {
      rule: 'The pages of sign-in, one-time password, consent and connected apps work without JavaScript, with the keyboard only, 320 pixels wide, at 400 % zoom and in forced colours, and axe finds no violation.',
      source: 'WCAG 2.2',
    },
    C144: {
      rule: 'Types, validators and clients that generators produce from the published document compile, accept its examples, and work against the service; so do the TypeScript client and the Postman collection.',
      source: 'own',
    },
    C145: {
      rule: "`/livez` returns 200 without a database. `/readyz` returns 503 while the database is unavailable or too slow, migrations are pending, the clock is wrong or the service is shutting down. Metrics are on the operator's port only.",
      source: 'own',
    },
  },
};

export const ABUSE: Topic = {
  title: 'Unwanted posts and too many writes',
  rules: {
    C146: {
      rule: 'The public page of a post returns the 404 of a missing post while its author is blocked, and while the operator hides the posts of the app that published it (`app disable --hide-posts`, until `app enable`). Both take effect at once. Disabling an app alone hides nothing.',
      source: 'own',
    },
    C147: {
      rule: '`post remove` deletes any post at once, as if its author had, whatever its visibility and the status of the author. `post restore` restores it within `DELETED_POST_DAYS`. `comment remove` deletes any comment in the same way, for good.',
      source: 'own',
    },
    C148: {
      rule: 'A grant may add comments and delete posts and comments 60 times a minute in each process, together. Beyond that they return 429 `too_many_requests` with `Retry-After` and `RateLimit`, and change nothing. Failed requests and repeats with an `Idempotency-Key` count; rejected ones do not. The limit is checked after token and scope, and before the body is read. Publishing has the monthly quota instead.',
      source: 'own; RateLimit header draft',
    },
    C149: {
      rule: 'Texts in any script are stored and returned unchanged, whatever character set the database server prefers: each new connection sets utf8mb4 and checks what the server uses. A connection that uses another character set is refused with a sentence.',
      source: 'own',
    },
    C150: {
      rule: 'No job, scheduled or run by a command, runs while the clocks of the process and of the database differ by more than 5 seconds, or while they cannot be compared. On SQLite, where they are one, none runs while the last time of a job lies in the future. Requests are served. `jobs_skipped_total` counts the skipped runs, `clock_skew_seconds` shows the difference, and commands exit with 1.',
      source: 'own',
    },
  },
};
