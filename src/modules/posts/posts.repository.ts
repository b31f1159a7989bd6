import { Injectable } from '@nestjs/common';
import { DataSource, MoreThan } from 'typeorm';
import { isId } from '../../platform/ids.js';
import { type ListPaging, PageStatements, type Paging } from '../../platform/database/list-page.js';
import { type RawTime, storedTime } from '../../platform/database/columns.js';
import {
  insertAll,
  insertRow,
  placeholdersFor,
  readRows,
  useIndex,
  whereOwn,
  writeRows,
} from '../../platform/database/sql.js';
import { BatchLoader } from '../../platform/database/batch-loader.js';
import { type ItemSearch, newestItems } from '../../platform/database/rows-in-pages.js';
import { entities, type Transaction } from '../../platform/database/transaction.js';
import { User } from '../users/user.entity.js';
import { Post, PostLike } from './post.entities.js';

export type PostItem = Pick<Post, 'id' | 'content' | 'createdAt'>;
export type PostDetails = PostItem & Pick<Post, 'tags' | 'reachKm' | 'visibility'>;
export type PostCounts = Pick<Post, 'id' | 'likeCount' | 'commentCount' | 'createdAt'>;
export type PublicPost = Pick<
  Post,
  'id' | 'clientId' | 'title' | 'content' | 'images' | 'tags' | 'neighborhood' | 'createdAt'
> & { author: string };

const FIND_OWN = `
  SELECT id, user_id AS userId, content, created_at AS createdAt, tags, reach_km AS reachKm, visibility
  FROM posts`;
const FIND_OWN_COUNTS = `
  SELECT id, user_id AS userId, like_count AS likeCount, comment_count AS commentCount, created_at AS createdAt
  FROM posts`;
/** Posts that were published in the network itself have no app. */
const FIND_PUBLIC = `
  SELECT posts.id, posts.client_id AS clientId, posts.title, posts.content, posts.images, posts.tags, posts.neighborhood, posts.created_at AS createdAt,
    users.name AS author
  FROM posts
  JOIN users ON users.id = posts.user_id AND users.status = 'active'
  LEFT JOIN apps ON apps.client_id = posts.client_id
  WHERE posts.id = ? AND posts.visibility = 'public' AND posts.deleted_at IS NULL AND apps.posts_hidden_at IS NULL`;
const INCREMENT_POST_COUNT =
  "UPDATE users SET post_count = post_count + 1 WHERE status = 'active' AND id IN";
const DECREMENT_POST_COUNT = 'UPDATE users SET post_count = post_count - 1 WHERE id IN';
const SOFT_DELETE = 'UPDATE posts SET deleted_at = ? WHERE deleted_at IS NULL';

/** A row as the database drivers return it. */
type RawPost<T extends { createdAt: Date }> = {
  [K in keyof T]: K extends 'createdAt' ? RawTime : T[K] extends string[] ? string : T[K];
};

/** Methods named "own" only access the posts of the given users. Those that read treat a malformed id as unknown. */
@Injectable()
export class PostsRepository {
  private readonly pages: PageStatements;
  private readonly own: BatchLoader<RawPost<PostDetails>>;
  private readonly ownCounts: BatchLoader<RawPost<PostCounts>>;

  constructor(private readonly dataSource: DataSource) {
    this.pages = new PageStatements(dataSource, {
      table: 'posts',
      parentColumn: 'user_id',
      index: 'ix_posts_user_id',
      columns: 'item.id, item.content, item.created_at AS createdAt',
    });
    const key = { id: 'id', userId: 'user_id' };
    const notDeleted = `${useIndex(dataSource, 'PRIMARY')} WHERE deleted_at IS NULL AND`;
    this.own = new BatchLoader(dataSource, `${FIND_OWN} ${notDeleted}`, key);
    this.ownCounts = new BatchLoader(dataSource, `${FIND_OWN_COUNTS} ${notDeleted}`, key);
  }

  insertAll(tx: Transaction, posts: readonly Post[]): Promise<void> {
    return insertAll(tx, Post, posts);
  }

  async findOwn(userId: string, id: string): Promise<PostDetails | null> {
    const post = isId('post', id) ? await this.own.find(id, userId) : undefined;
    if (!post) return null;
    const tags = JSON.parse(post.tags) as string[];
    return { ...post, tags, createdAt: storedTime(post.createdAt) };
  }

  async findOwnCounts(userId: string, id: string): Promise<PostCounts | null> {
    const post = isId('post', id) ? await this.ownCounts.find(id, userId) : undefined;
    return post ? { ...post, createdAt: storedTime(post.createdAt) } : null;
  }

  /**
   * Returns the posts of the page, newest first, and one more if there is a next page.
   * @param total the number of the user's posts, if known
   */
  async findOwnPage(userId: string, paging: Paging, total?: number): Promise<PostItem[]> {
    const statement = this.pages.statementFor(userId, paging, total);
    const posts = await readRows<RawPost<PostItem>>(this.dataSource, ...statement);
    return posts.map((post) => ({ ...post, createdAt: storedTime(post.createdAt) }));
  }

  /** Returns null for a post that is not public, whose author is blocked or erased, or whose app's posts are hidden. */
  async findPublic(id: string): Promise<PublicPost | null> {
    if (!isId('post', id)) return null;
    const [post] = await readRows<RawPost<PublicPost>>(this.dataSource, FIND_PUBLIC, [id]);
    if (!post) return null;
    const images = JSON.parse(post.images) as string[];
    const tags = JSON.parse(post.tags) as string[];
    return { ...post, images, tags, createdAt: storedTime(post.createdAt) };
  }

  /**
   * Deletes posts of different users, and no longer counts them. The ids must be valid.
   * @returns false if a user has no such post, and then no post may stay deleted
   */
  async softDeleteOwn(
    tx: Transaction,
    posts: readonly Pick<Post, 'id' | 'userId'>[],
    now: Date,
  ): Promise<boolean> {
    const [own, values] = whereOwn(posts);
    const deleted = await writeRows(tx, `${SOFT_DELETE} AND ${own}`, [now, ...values]);
    if (deleted !== posts.length) return false;
    const userIds = posts.map(({ userId }) => userId);
    await writeRows(tx, `${DECREMENT_POST_COUNT} ${placeholdersFor(userIds)}`, userIds);
    return true;
  }

  /** Returns false if the post does not exist, is not deleted, or was deleted at `since` or before. */
  async undelete(tx: Transaction, id: string, since: Date): Promise<boolean> {
    const deleted = { id, deletedAt: MoreThan(since) };
    const { affected } = await entities(tx).update(Post, deleted, { deletedAt: null });
    return affected === 1;
  }

  /** Posts of any user, deleted or not, newest first. One more than the page size if there is a next page. */
  findAnyOf(search: ItemSearch, paging: ListPaging): Promise<Post[]> {
    const keys = { prefix: 'post', index: 'ix_posts_user_id' } as const;
    return newestItems(this.dataSource, Post, keys, search, paging);
  }

  /** A post of any user, deleted or not. */
  findAny(id: string, tx?: Transaction): Promise<Post | null> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    return manager.findOneBy(Post, { id });
  }

  /**
   * Increments the post count of each user, and locks the rows until the transaction ends.
   * @returns false if a user is blocked, does not exist, or is listed twice
   */
  async incrementPostCountsOfActive(tx: Transaction, userIds: readonly string[]): Promise<boolean> {
    const statement = `${INCREMENT_POST_COUNT} ${placeholdersFor(userIds)}`;
    return (await writeRows(tx, statement, userIds)) === userIds.length;
  }

  /** Also for a blocked user. Returns false if the user does not exist. */
  async incrementPostCount(tx: Transaction, userId: string): Promise<boolean> {
    const { affected } = await entities(tx).increment(User, { id: userId }, 'postCount', 1);
    return affected === 1;
  }

  async insertLike(tx: Transaction, like: PostLike): Promise<void> {
    await insertRow(tx, PostLike, like);
    await entities(tx).increment(Post, { id: like.postId }, 'likeCount', 1);
  }
}
