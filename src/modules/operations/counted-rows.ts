import { type EntityTarget, In, type ObjectLiteral } from 'typeorm';
import { deleteReturning } from '../../platform/database/sql.js';
import { entities, type Transaction } from '../../platform/database/transaction.js';
import { Comment } from '../comments/comment.entity.js';
import { Post, PostLike } from '../posts/post.entities.js';
import { User } from '../users/user.entity.js';

/* Deletes rows by their primary keys, and updates the counters that count them. Soft-deleted rows are not counted. */

type Keys = readonly ObjectLiteral[];

export async function removeComments(tx: Transaction, keys: Keys): Promise<number> {
  const where = { id: In(idsOf(keys)) };
  const select = { id: true, postId: true, deletedAt: true };
  const comments = await deleteReturning(tx, Comment, where, select);
  const counted = comments.filter(({ deletedAt }) => deletedAt === null);
  const postIds = counted.map(({ postId }) => postId);
  await decrement(tx, Post, 'commentCount', postIds);
  return comments.length;
}

export async function removeLikes(tx: Transaction, userId: string, keys: Keys): Promise<number> {
  const where = { userId, postId: In(keys.map(({ postId }) => postId as string)) };
  const likes = await deleteReturning(tx, PostLike, where, { postId: true });
  const postIds = likes.map(({ postId }) => postId);
  await decrement(tx, Post, 'likeCount', postIds);
  return likes.length;
}

/** Also deletes the comments and likes that posts got since their rows were deleted: a new comment first locks its post. */
export async function removePosts(tx: Transaction, keys: Keys): Promise<number> {
  const ids = idsOf(keys);
  const select = { id: true, userId: true, deletedAt: true };
  const posts = await deleteReturning(tx, Post, { id: In(ids) }, select);
  await entities(tx).delete(Comment, { postId: In(ids) });
  await entities(tx).delete(PostLike, { postId: In(ids) });
  const counted = posts.filter(({ deletedAt }) => deletedAt === null);
  const userIds = counted.map(({ userId }) => userId);
  await decrement(tx, User, 'postCount', userIds);
  return posts.length;
}

function idsOf(keys: Keys): string[] {
  return keys.map(({ id }) => id as string);
}

/**
 * Subtracts 1 from the counter of a row for each time that its id is listed, with one statement for all rows with the same difference.
 * @param ids of the rows with the counter
 */
async function decrement(
  tx: Transaction,
  entity: EntityTarget<{ id: string }>,
  counter: 'commentCount' | 'likeCount' | 'postCount',
  ids: readonly string[],
): Promise<void> {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  for (const count of new Set(counts.values())) {
    const owners = [...counts.keys()].filter((id) => counts.get(id) === count);
    await entities(tx).decrement(entity, { id: In(owners) }, counter, count);
  }
}
