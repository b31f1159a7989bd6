import type { Pool } from 'mysql2/promise';
import { insertRows } from '../insert-rows.js';
import { insertApp, insertGrants } from '../access.js';

/** Size of a data set. User 0 owns every hundredth post, and the newest of these has all comments. */
export interface Size {
  posts: number;
  comments: number;
}

/** Number of users with access tokens. */
const CALLERS = 100;
/** Rows per statement. */
const BATCH = 250_000;

/** An SQL expression for an id in the format of the service. Ids sort by `number`, which is an SQL expression, too. */
export const idOf = (prefix: string, number: string): string =>
  `CONCAT('${prefix}_01k', LPAD(${number}, 23, '0'))`;

export const userId = (number: number): string => `usr_01k${String(number).padStart(23, '0')}`;
export const postId = (number: number): string => `post_01k${String(number).padStart(23, '0')}`;

/** The newest post of user 0, which has all comments. */
export const busyPost = ({ posts }: Size): string => postId(posts - 100);

/** Fills the migrated tables with `INSERT … SELECT`, which is faster than sending rows. */
export async function fillToScale(pool: Pool, { posts, comments }: Size): Promise<void> {
  const users = Math.max(CALLERS, posts / 100);
  await pool.query('CREATE TABLE bench_numbers (number INTEGER PRIMARY KEY)');
  await insertRows(
    pool,
    'bench_numbers',
    Array.from({ length: 1000 }, (_, number) => ({ number })),
  );
  await inBatches(
    pool,
    users,
    (numbers) => `
    INSERT INTO users (id, status, phone, name, photo_url, karma, neighborhood, latitude, longitude, post_count, created_at)
    SELECT ${idOf('usr', 'n')}, 'active', CONCAT('+1', LPAD(n, 10, '0')), CONCAT('Member ', n), NULL, 0, 'Riverside',
      37.77, -122.42, 0, '2026-01-01' FROM ${numbers}`,
  );
  await inBatches(
    pool,
    posts,
    (numbers) => `
    INSERT INTO posts (id, user_id, title, content, type, images, tags, visibility, comment_count, created_at)
    SELECT ${idOf('post', 'n')}, ${idOf('usr', `IF(n % 100 = 0, 0, 1 + (n * 7919) % ${users - 1})`)}, 'Street party',
      REPEAT('Bring a chair and something to share. ', 5), 'general', '[]', '["party","Saturday"]', 'public', 0,
      '2026-01-01' + INTERVAL n SECOND FROM ${numbers}`,
  );
  await inBatches(
    pool,
    comments,
    (numbers) => `
    INSERT INTO comments (id, post_id, user_id, text, created_at)
    SELECT ${idOf('cmt', 'n')}, '${busyPost({ posts, comments })}', ${idOf('usr', `(n * 7919) % ${users}`)},
      'Count me in! Shall I bring the lanterns again?', '2026-06-01' + INTERVAL n SECOND FROM ${numbers}`,
  );
  await pool.query(`
    UPDATE users JOIN (SELECT user_id, COUNT(*) AS posts FROM posts GROUP BY user_id) counted
    ON counted.user_id = users.id SET users.post_count = counted.posts`);
  await pool.query('UPDATE posts SET comment_count = ? WHERE id = ?', [
    comments,
    busyPost({ posts, comments }),
  ]);
  await pool.query('DROP TABLE bench_numbers');
  await pool.query('ANALYZE TABLE users, posts, comments');
  await insertApp(pool);
  await insertGrants(
    pool,
    Array.from({ length: CALLERS }, (_, number) => userId(number)),
  );
}

/** Inserts users. @returns their ids */
export async function fillUsers(pool: Pool, count: number): Promise<string[]> {
  const users = Array.from({ length: count }, (_, number) => ({
    id: userId(number),
    status: 'active',
    phone: `+1${String(number).padStart(10, '0')}`,
    name: `Member ${number}`,
    karma: 0,
    latitude: 37.77,
    longitude: -122.42,
    neighborhood: 'Riverside',
    post_count: 0,
    created_at: new Date(),
  }));
  await insertRows(pool, 'users', users);
  return users.map(({ id }) => id);
}

/** Inserts `count` rows in batches. `statement` inserts one row for each `n` of the table expression `numbers`. */
async function inBatches(
  pool: Pool,
  count: number,
  statement: (numbers: string) => string,
): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    const until = Math.min(count, from + BATCH);
    const number = `${from} + thousands.number * 1000 + units.number`;
    const numbers = `(SELECT ${number} AS n FROM bench_numbers thousands JOIN bench_numbers units
      WHERE ${number} < ${until} ORDER BY thousands.number, units.number) numbers`;
    await pool.query(statement(numbers));
  }
}
