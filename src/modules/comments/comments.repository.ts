import { Injectable } from '@nestjs/common';
import { DataSource, IsNull } from 'typeorm';
import { isId } from '../../platform/ids.js';
import { type ListPaging, PageStatements, type Paging } from '../../platform/database/list-page.js';
import { type RawTime, storedTime } from '../../platform/database/columns.js';
import {
  insertAll,
  padToPowerOfTwo,
  placeholdersFor,
  readRows,
  whereOwn,
  writeRows,
} from '../../platform/database/sql.js';
import { type ItemSearch, newestItems } from '../../platform/database/rows-in-pages.js';
import { entities, type Transaction } from '../../platform/database/transaction.js';
import { Post } from '../posts/post.entities.js';
import { Comment } from './comment.entity.js';

const INCREMENT_COUNT =
  'UPDATE posts SET comment_count = comment_count + 1 WHERE deleted_at IS NULL';

const LISTED =
  'item.id, item.text, item.parent_id AS parentId, item.created_at AS createdAt, item.user_id AS userId, ' +
  'users.name, users.photo_url AS photoUrl';
const WITH_AUTHOR = 'LEFT JOIN users ON users.id = item.user_id';

/** The author's name is empty if the user no longer exists. */
export interface ListedComment extends Pick<Comment, 'id' | 'text' | 'parentId' | 'createdAt'> {
  author: { id: string; name: string; photoUrl: string | null };
}

interface Row extends Pick<Comment, 'id' | 'text' | 'parentId' | 'userId'> {
  createdAt: RawTime;
  name: string | null;
  photoUrl: string | null;
}

@Injectable()
export class CommentsRepository {
  private readonly pages: PageStatements;

  constructor(private readonly dataSource: DataSource) {
    this.pages = new PageStatements(dataSource, {
      table: 'comments',
      parentColumn: 'post_id',
      index: 'ix_comments_post_id',
      columns: LISTED,
      join: WITH_AUTHOR,
    });
  }

  insertAll(tx: Transaction, comments: readonly Comment[]): Promise<void> {
    return insertAll(tx, Comment, comments);
  }

  async existsOnPost(tx: Transaction, id: string, postId: string): Promise<boolean> {
    return isId('cmt', id) && entities(tx).existsBy(Comment, { id, postId, deletedAt: IsNull() });
  }

  /**
   * Newest first. One comment more than the page size if there is a next page.
   * @param total the number of comments on the post, if known
   */
  async findPage(postId: string, paging: Paging, total?: number): Promise<ListedComment[]> {
    const rows = await readRows<Row>(
      this.dataSource,
      ...this.pages.statementFor(postId, paging, total),
    );
    return rows.map(listedComment);
  }

  /** Those of these comments that are not deleted, on posts that are not deleted. */
  async findAll(ids: readonly string[]): Promise<(ListedComment & { postId: string })[]> {
    const padded = padToPowerOfTwo(ids);
    const rows = await readRows<Row & { postId: string }>(
      this.dataSource,
      `SELECT item.post_id AS postId, ${LISTED} FROM comments item ${WITH_AUTHOR}
       JOIN posts ON posts.id = item.post_id AND posts.deleted_at IS NULL
       WHERE item.deleted_at IS NULL AND item.id IN ${placeholdersFor(padded)}`,
      padded,
    );
    return rows.map((row) => ({ ...listedComment(row), postId: row.postId }));
  }

  /**
   * Counts a new comment on each of these posts, and locks them until the transaction ends. The ids must be valid.
   * @returns false if a user has no such post, or a post is listed twice
   */
  async incrementCountsOfOwnPosts(
    tx: Transaction,
    posts: readonly { id: string; userId: string }[],
  ): Promise<boolean> {
    const [own, values] = whereOwn(posts);
    return (await writeRows(tx, `${INCREMENT_COUNT} AND ${own}`, values)) === posts.length;
  }

  /** Deletes a comment by the user, and no longer counts it. Returns its post; undefined if the user has no such comment. */
  async softDeleteOwn(
    tx: Transaction,
    userId: string,
    id: string,
    now: Date,
  ): Promise<string | undefined> {
    if (!isId('cmt', id)) return undefined;
    const own = { id, userId, deletedAt: IsNull() };
    // Write first: on SQLite, a transaction that reads first fails if another process writes in between.
    const { affected } = await entities(tx).update(Comment, own, { deletedAt: now });
    if (affected !== 1) return undefined;
    const select = { postId: true };
    const { postId } = await entities(tx).findOneOrFail(Comment, { select, where: { id } });
    await entities(tx).decrement(Post, { id: postId }, 'commentCount', 1);
    return postId;
  }

  /** Comments of any user, deleted or not, newest first. One more than the page size if there is a next page. */
  findAnyOf(search: ItemSearch, paging: ListPaging): Promise<Comment[]> {
    const keys = { prefix: 'cmt', index: 'ix_comments_user_id' } as const;
    return newestItems(this.dataSource, Comment, keys, search, paging);
  }

  /** A comment of any user, deleted or not. */
  findAny(id: string): Promise<Comment | null> {
    return this.dataSource.manager.findOneBy(Comment, { id });
  }
}

// Rest properties would be slow here.
function listedComment({
  id,
  text,
  parentId,
  createdAt,
  userId,
  name,
  photoUrl,
}: Row): ListedComment {
  return {
    id,
    text,
    parentId,
    createdAt: storedTime(createdAt),
    author: { id: userId, name: name ?? '', photoUrl },
  };
}
