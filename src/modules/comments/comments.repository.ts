import { Injectable } from '@nestjs/common';
import { DataSource, IsNull } from 'typeorm';
import { isId } from '../../platform/ids.js';
import { type ListPaging, PageStatements, type Paging } from '../../platform/database/list-page.js';
import { type RawTime, storedTime } from '../../platform/database/columns.js';
import { insertAll, readRows, whereOwn, writeRows } from '../../platform/database/sql.js';
import { type ItemSearch, newestItems } from '../../platform/database/rows-in-pages.js';
import { entities, type Transaction } from '../../platform/database/transaction.js';
import { Post } from '../posts/post.entities.js';
import { Comment } from './comment.entity.js';

const INCREMENT_COUNT =
  'UPDATE posts SET comment_count = comment_count + 1 WHERE deleted_at IS NULL';

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
      columns:
        'item.id, item.text, item.parent_id AS parentId, item.created_at AS createdAt, item.user_id AS userId, ' +
        'users.name, users.photo_url AS photoUrl',
      join: 'LEFT JOIN users ON users.id = item.user_id',
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
    // Rest properties would be slow here.
    return rows.map(({ id, text, parentId, createdAt, userId, name, photoUrl }) => ({
      id,
      text,
      parentId,
      createdAt: storedTime(createdAt),
      author: { id: userId, name: name ?? '', photoUrl },
    }));
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

  /** Deletes a comment by the user, and no longer counts it. Returns false if the user has no such comment. */
  async softDeleteOwn(tx: Transaction, userId: string, id: string, now: Date): Promise<boolean> {
    if (!isId('cmt', id)) return false;
    const own = { id, userId, deletedAt: IsNull() };
    // Write first: on SQLite, a transaction that reads first fails if another process writes in between.
    const { affected } = await entities(tx).update(Comment, own, { deletedAt: now });
    if (affected !== 1) return false;
    const select = { postId: true };
    const { postId } = await entities(tx).findOneOrFail(Comment, { select, where: { id } });
    await entities(tx).decrement(Post, { id: postId }, 'commentCount', 1);
    return true;
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
