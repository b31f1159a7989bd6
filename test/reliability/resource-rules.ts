import type { Topic } from './topic.js';

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
