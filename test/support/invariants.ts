import { expect } from 'vitest';

/** A credential in plain text: a prefix (product requirements, section 2, or Standard Webhooks) and 43 random characters. */
const CREDENTIAL = /(svc_sec|svcac|svcat|svcrt|whsec)_[A-Za-z0-9_+/-]{43}/g;

/** The service prints the secret of the demo app once, when it creates the demo. */
const DEMO_SECRET = /^ {2}Client secret {2,}svc_sec_\S+$/m;

/** @throws when `text` contains a credential; the message has its prefix and the text before it */
export function expectNoCredential(text: string, where: string): void {
  const found = [...text.replace(DEMO_SECRET, '').matchAll(CREDENTIAL)].map(
    ({ index, input, 1: prefix }) => `${input.slice(Math.max(0, index - 60), index)}${prefix}_…`,
  );
  if (found.length > 0)
    throw new Error(
      `${where} contains credentials in plain text (${found.length}):\n${found.join('\n')}`,
    );
}

/**
 * Returns `given` with another last character. The new character also decodes to other bits: base64url ignores the lowest bits of
 * the last character.
 * @throws when `given` is empty
 */
export function differentFrom(given: string | null | undefined): string {
  if (!given) throw new Error('The value is empty.');
  return given.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A'));
}

/** Runs one SELECT on a test database. */
export type Select = (sql: string) => Promise<Record<string, unknown>[]>;

/** Three counts of the posts of each app and month. They must be equal. */
const POST_COUNTS = {
  posts: `SELECT client_id AS app, SUBSTR(created_at, 1, 7) AS period, COUNT(*) AS published
    FROM posts WHERE client_id IS NOT NULL GROUP BY client_id, SUBSTR(created_at, 1, 7)`,
  recorded: `SELECT client_id AS app, SUBSTR(at, 1, 7) AS period, COUNT(*) AS published
    FROM api_calls WHERE metered = 1 AND route = 'POST /dev/v1/posts' AND status = 201
    GROUP BY client_id, SUBSTR(at, 1, 7)`,
  counted: `SELECT client_id AS app, period, used AS published FROM quota_usage WHERE used > 0`,
};

/** An erasure deletes the posts of a user, but neither the call records nor the used quota. */
const ERASURES = `SELECT COUNT(*) AS erasures FROM audit_events WHERE action = 'user.erased'`;

/** Calls that count against the quota (`metered`), but published no post. */
const METERED_WITHOUT_POST = `SELECT id, route, status FROM api_calls
  WHERE metered = 1 AND NOT (route = 'POST /dev/v1/posts' AND status = 201)`;

/** Queries for rows whose counter differs from the number of counted rows. */
const WRONG_COUNTERS = {
  'users.post_count': `SELECT id, post_count AS counter FROM users WHERE post_count <>
    (SELECT COUNT(*) FROM posts WHERE posts.user_id = users.id AND posts.deleted_at IS NULL)`,
  'posts.comment_count': `SELECT id, comment_count AS counter FROM posts WHERE comment_count <>
    (SELECT COUNT(*) FROM comments WHERE comments.post_id = posts.id AND comments.deleted_at IS NULL)`,
  'posts.like_count': `SELECT id, like_count AS counter FROM posts WHERE like_count <>
    (SELECT COUNT(*) FROM post_likes WHERE post_likes.post_id = posts.id)`,
};

/** `DATABASE_URL`s of databases in which a test inserts or deletes rows itself, so the counters do not match. */
const uncheckedDatabases = new Set<string>();

/**
 * Skips `expectConsistentCounters`, which otherwise runs after the tests of a file. For files whose tests insert or delete rows
 * themselves and leave the counters as they are.
 */
export function skipCounterCheck({ url }: { url: string }): void {
  uncheckedDatabases.add(url);
}

/**
 * Asserts that the posts, the recorded publishes and the used quota are equal for each app and month, and that every counter
 * equals the number of its rows.
 */
export async function expectConsistentCounters(url: string, select: Select): Promise<void> {
  if (uncheckedDatabases.has(url)) return;
  const published = await Promise.all(
    Object.values(POST_COUNTS).map(async (sql) => totals(await select(sql))),
  );
  const [posts = {}, recorded = {}, counted = {}] = published;
  expect(counted, 'quota and recorded calls').toEqual(recorded);
  const [erased] = await select(ERASURES);
  if (Number(erased?.['erasures']) === 0)
    expect(posts, 'posts and recorded calls').toEqual(recorded);
  for (const [appAndMonth, posted] of Object.entries(posts))
    expect(posted, appAndMonth).toBeLessThanOrEqual(recorded[appAndMonth] ?? 0);
  expect(
    await select(METERED_WITHOUT_POST),
    'calls that count against the quota, but published nothing',
  ).toEqual([]);
  for (const [counter, sql] of Object.entries(WRONG_COUNTERS))
    expect(await select(sql), counter).toEqual([]);
}

function totals(rows: Record<string, unknown>[]): Record<string, number> {
  return Object.fromEntries(
    rows
      .map(({ app, period, published }) => [`${String(app)} ${String(period)}`, Number(published)])
      .toSorted(),
  );
}
