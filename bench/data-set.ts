import type { Pool } from 'mysql2/promise';
import { newId, type IdPrefix } from '../src/platform/ids.js';
import { insertApp, insertGrants } from './access.js';
import { CLIENT_ID, TOKEN_CLIENT_IDS, USERS } from './credentials.js';
import type { SqlValue } from './bulk-insert.js';
import { insertRows } from './insert-rows.js';

const POSTS_PER_USER = 25;
/** Number of comments on the oldest post of each user. */
const COMMENTS_PER_POST = 25;
/** Number of posts of user 0, for the paging workload. */
const POSTS_OF_FIRST_USER = 2000;

/** Ids of the stored rows, for use in requests. */
export interface DataSet {
  userIds: string[];
  /** The oldest post of each user, which has comments. */
  commentedPostIds: string[];
  /** Another post of each user. */
  postIds: string[];
}

/** Inserts apps, users, grants, tokens, posts and comments into the migrated tables of the service. */
export async function fillDataSet(pool: Pool): Promise<DataSet> {
  const start = new Date(Date.now() - 30 * 86_400_000);
  const at = (second: number): Date => new Date(start.getTime() + second * 1000);
  const ids = (prefix: IdPrefix, count: number): string[] =>
    Array.from({ length: count }, (_, second) => newId(prefix, at(second)));
  const userIds = ids('usr', USERS);
  for (const clientId of [CLIENT_ID, ...TOKEN_CLIENT_IDS]) await insertApp(pool, clientId);
  await insertRows(
    pool,
    'users',
    userIds.map((id, user) => ({
      id,
      status: 'active',
      phone: `+1415555${String(user).padStart(4, '0')}`,
      name: `Member ${user}`,
      photo_url: `https://photos.example/${user}.jpg`,
      karma: user,
      neighborhood: 'Riverside',
      latitude: 37.77,
      longitude: -122.42,
      post_count: user === 0 ? POSTS_OF_FIRST_USER : POSTS_PER_USER,
      created_at: start,
    })),
  );
  await insertGrants(pool, userIds);
  const commentedPostIds = ids('post', USERS);
  const postIds: string[] = [];
  for (const [user, userId] of userIds.entries()) {
    const otherCount = (user === 0 ? POSTS_OF_FIRST_USER : POSTS_PER_USER) - 1;
    const others = Array.from({ length: otherCount }, (_, second) =>
      newId('post', at(USERS + second)),
    );
    postIds.push(others[0] as string);
    const own = [commentedPostIds[user] as string, ...others];
    await insertRows(
      pool,
      'posts',
      own.map((id, number) => postRow(id, userId, at(number), { hasComments: number === 0 })),
    );
  }
  await insertComments(pool, userIds, commentedPostIds, at);
  return { userIds, commentedPostIds, postIds };
}

/** Inserts `postsPerUser` more posts for each user. @returns the id of each, and the number of its user */
export async function addPosts(
  pool: Pool,
  { userIds }: DataSet,
  postsPerUser: number,
): Promise<{ id: string; user: number }[]> {
  const now = new Date();
  const posts = userIds.flatMap((_, user) =>
    Array.from({ length: postsPerUser }, () => ({ id: newId('post', now), user })),
  );
  await insertRows(
    pool,
    'posts',
    posts.map(({ id, user }) => postRow(id, userIds[user] as string, now, { hasComments: false })),
  );
  await pool.query('UPDATE users SET post_count = post_count + ?', [postsPerUser]);
  return posts;
}

function postRow(
  id: string,
  userId: string,
  createdAt: Date,
  { hasComments }: { hasComments: boolean },
): Record<string, SqlValue> {
  return {
    id,
    user_id: userId,
    client_id: CLIENT_ID,
    title: 'Street party',
    content: 'Bring a chair and something to share. '.repeat(5),
    type: 'general',
    images: JSON.stringify(['https://photos.example/party.jpg']),
    tags: JSON.stringify(['party', 'Saturday']),
    latitude: 37.77,
    longitude: -122.42,
    reach_km: 2.5,
    visibility: 'public',
    like_count: 0,
    comment_count: hasComments ? COMMENTS_PER_POST : 0,
    created_at: createdAt,
  };
}

/** Inserts comments by different users on each of the posts. */
async function insertComments(
  pool: Pool,
  userIds: string[],
  postIds: string[],
  at: (second: number) => Date,
): Promise<void> {
  const comments = postIds.flatMap((postId, post) =>
    Array.from({ length: COMMENTS_PER_POST }, (_, number) => ({
      id: newId('cmt', at(number)),
      post_id: postId,
      user_id: userIds[(post * 7 + number * 13) % userIds.length] as string,
      text: 'Count me in! Shall I bring the lanterns again?',
      created_at: at(number),
    })),
  );
  await insertRows(pool, 'comments', comments);
}
