import type { Topic } from './topic.js';

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
