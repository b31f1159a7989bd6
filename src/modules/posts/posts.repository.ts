import { Injectable } from '@nestjs/common';
import { DataSource, In, IsNull, type FindOptionsWhere } from 'typeorm';
import { isId } from '../../platform/ids.js';
import { PageStatements, type Paging } from '../../platform/database/list-page.js';
import { storedTime } from '../../platform/database/columns.js';
import {
  insertAll,
  insertRow,
  readRows,
  useIndex,
  writeRows,
} from '../../platform/database/sql.js';
import { keptCounter, type CounterCache } from '../../platform/database/counter-cache.js';
import { BatchLoader } from '../../platform/database/batch-loader.js';
import { entities, type Transaction } from '../../platform/database/transaction.js';
import { User } from '../users/user.entity.js';
import { Post, PostLike } from './post.entities.js';
import { PostNotFound } from './posts.errors.js';

export type PostItem = Pick<Post, 'id' | 'content' | 'createdAt'>;
export type PostDetails = PostItem & Pick<Post, 'tags' | 'reachKm' | 'visibility'>;
export type PostCounts = Pick<Post, 'id' | 'likeCount' | 'commentCount' | 'createdAt'>;

const FIND_OWN = `
  SELECT id, user_id AS userId, content, created_at AS createdAt, tags, reach_km AS reachKm, visibility
  FROM posts`;
const FIND_OWN_COUNTS = `
  SELECT id, user_id AS userId, like_count AS likeCount, comment_count AS commentCount, created_at AS createdAt
  FROM posts`;
const COUNT_OWN_COMMENT = `
  UPDATE posts SET comment_count = comment_count + 1
  WHERE id = ? AND user_id = ? AND deleted_at IS NULL`;

/** Every read names the owner, so that none returns a post of somebody else's. */
@Injectable()
export class PostsRepository {
  private readonly pages: PageStatements;
  private readonly own: BatchLoader<Stored<PostDetails>>;
  private readonly ownCounts: BatchLoader<Stored<PostCounts>>;

  constructor(private readonly dataSource: DataSource) {
    this.pages = new PageStatements(dataSource, {
      table: 'posts',
      owner: 'user_id',
      index: 'ix_posts_user_id',
      columns: 'item.id, item.content, item.created_at AS createdAt',
    });
    const key = { id: 'id', userId: 'user_id' };
    const present = `${useIndex(dataSource, 'PRIMARY')} WHERE deleted_at IS NULL AND`;
    this.own = new BatchLoader(dataSource, `${FIND_OWN} ${present}`, key);
    this.ownCounts = new BatchLoader(dataSource, `${FIND_OWN_COUNTS} ${present}`, key);
  }

  insertAll(tx: Transaction, posts: readonly Post[]): Promise<void> {
    return insertAll(tx, Post, posts);
  }

  async findOwn(userId: string, id: string): Promise<PostDetails | null> {
    const post = await this.own.find(postId(id), userId);
    if (!post) return null;
    return {
      ...post,
      tags: JSON.parse(post.tags) as string[],
      createdAt: storedTime(post.createdAt),
    };
  }

  async findOwnCounts(userId: string, id: string): Promise<PostCounts | null> {
    const post = await this.ownCounts.find(postId(id), userId);
    return post ? { ...post, createdAt: storedTime(post.createdAt) } : null;
  }

  /**
   * Newest first, and one more than the page holds where the list goes on. Ids come from the index: no row is read to be skipped.
   * @param total of the user's posts, where that is known
   */
  async findOwnPage(userId: string, paging: Paging, total?: number): Promise<PostItem[]> {
    const statement = this.pages.of(userId, paging, total);
    const posts = await readRows<Stored<PostItem>>(this.dataSource, ...statement);
    return posts.map((post) => ({ ...post, createdAt: storedTime(post.createdAt) }));
  }

  /** False when the user has no such post (any more). */
  async markDeleted(tx: Transaction, userId: string, id: string, now: Date): Promise<boolean> {
    const { affected } = await entities(tx).update(Post, ownPost(userId, id), { deletedAt: now });
    return affected === 1;
  }

  /** Counts a new comment on the user's post. False when the user has no such post: the comment must not be added. */
  async countOwnComment(tx: Transaction, userId: string, id: string): Promise<boolean> {
    return (await writeRows(tx, COUNT_OWN_COMMENT, [postId(id), userId])) === 1;
  }

  async uncountComment(tx: Transaction, id: string): Promise<void> {
    await entities(tx).decrement(Post, { id }, 'commentCount', 1);
  }

  /** Counts so many comments less on each of these posts. */
  async uncountComments(tx: Transaction, counts: ReadonlyMap<string, number>): Promise<void> {
    for (const count of new Set(counts.values())) {
      const ids = [...counts.keys()].filter((id) => counts.get(id) === count);
      await entities(tx).decrement(Post, { id: In(ids) }, 'commentCount', count);
    }
  }

  /** Counts one like less on each of these posts. */
  async uncountLikes(tx: Transaction, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await entities(tx).decrement(Post, { id: In(ids) }, 'likeCount', 1);
  }

  async insertLike(tx: Transaction, like: PostLike): Promise<void> {
    await insertRow(tx, PostLike, like);
    await entities(tx).increment(Post, { id: like.postId }, 'likeCount', 1);
  }

  /** The counters of posts and likes. */
  counters(): CounterCache[] {
    return [
      keptCounter(this.dataSource, {
        entity: User,
        column: 'postCount',
        counted: Post,
        where: 'counted.userId = owner.id',
        counts: 'counted.deletedAt IS NULL',
      }),
      keptCounter(this.dataSource, {
        entity: Post,
        column: 'likeCount',
        counted: PostLike,
        where: 'counted.postId = owner.id',
      }),
    ];
  }
}

/** A row as the drivers give it. */
type Stored<T extends { createdAt: Date }> = {
  [K in keyof T]: K extends 'createdAt' ? Date | string : T[K] extends string[] ? string : T[K];
};

function ownPost(userId: string, id: string): FindOptionsWhere<Post> {
  return { id: postId(id), userId, deletedAt: IsNull() };
}

/** @throws PostNotFound when the id could not be one of a post: nothing else reaches SQL */
function postId(id: string): string {
  if (!isId('post', id)) throw new PostNotFound();
  return id;
}
