import { Injectable } from '@nestjs/common';
import { DataSource, In, type ObjectLiteral } from 'typeorm';
import {
  childRows,
  deletableRows,
  type DeletableRows,
} from '../../platform/database/retention/deletion-queries.js';
import {
  personalRows,
  type Person,
  type PersonalData,
  type PersonalRows,
} from '../../platform/database/retention/data-subject.js';
import { deleteReturning } from '../../platform/database/sql.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { Post } from '../posts/post.entities.js';
import { postsOf } from '../posts/posts.data-subject.js';
import { PostsService } from '../posts/posts.service.js';
import { Comment } from './comment.entity.js';

/** Comments by the user. Erasure also deletes all comments on the user's posts. */
@Injectable()
export class CommentsPersonalData implements PersonalData {
  constructor(
    private readonly dataSource: DataSource,
    private readonly posts: PostsService,
  ) {}

  rowsToExport({ userId }: Person): PersonalRows[] {
    return [personalRows(this.dataSource, Comment, { wheres: [{ userId }] })];
  }

  rowsToErase({ userId }: Person): DeletableRows[] {
    return [
      childRows(this.dataSource, {
        parent: Post,
        wheres: postsOf(userId),
        child: Comment,
        foreignKey: 'postId',
      }),
      {
        ...deletableRows(this.dataSource, Comment, { where: { userId }, indexColumn: 'userId' }),
        delete: (tx, keys) => this.deleteAndDecrementCounts(tx, keys),
      },
    ];
  }

  private async deleteAndDecrementCounts(
    tx: Transaction,
    keys: readonly ObjectLiteral[],
  ): Promise<number> {
    const where = { id: In(keys.map(({ id }) => id as string)) };
    const select = { id: true, postId: true, deletedAt: true };
    const comments = await deleteReturning(tx, Comment, where, select);
    const counts = new Map<string, number>();
    // Soft-deleted comments are not counted.
    for (const { postId, deletedAt } of comments)
      if (deletedAt === null) counts.set(postId, (counts.get(postId) ?? 0) + 1);
    await this.posts.decrementCommentCounts(tx, counts);
    return comments.length;
  }
}
