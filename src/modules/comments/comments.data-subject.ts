import { Injectable } from '@nestjs/common';
import { DataSource, In } from 'typeorm';
import {
  childRows,
  expiredRows,
  type ExpiredRows,
} from '../../platform/database/retention/expired-rows.js';
import {
  PersonalData,
  personalRows,
  type Person,
  type PersonalRows,
} from '../../platform/database/retention/data-subject.js';
import { deleteReturning } from '../../platform/database/sql.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { Post } from '../posts/post.entities.js';
import { postsOf } from '../posts/posts.data-subject.js';
import { PostsService } from '../posts/posts.service.js';
import { Comment } from './comment.entity.js';

/** What a person wrote under posts. With their own posts, what others wrote there goes, too. */
@Injectable()
export class CommentsPersonalData extends PersonalData {
  constructor(
    private readonly dataSource: DataSource,
    private readonly posts: PostsService,
  ) {
    super();
  }

  override held({ userId }: Person): PersonalRows[] {
    return [personalRows(this.dataSource, Comment, [{ userId }])];
  }

  override erased({ userId }: Person): ExpiredRows[] {
    return [
      childRows(this.dataSource, {
        parent: Post,
        wheres: postsOf(userId),
        child: Comment,
        link: 'postId',
      }),
      {
        ...expiredRows(this.dataSource, Comment, { userId }, 'userId'),
        delete: (tx, keys) =>
          this.deleteElsewhere(
            tx,
            keys.map(({ id }) => id as string),
          ),
      },
    ];
  }

  /** A comment that was marked as deleted is uncounted already. */
  private async deleteElsewhere(tx: Transaction, ids: readonly string[]): Promise<number> {
    const select = { id: true, postId: true, deletedAt: true };
    const comments = await deleteReturning(tx, Comment, { id: In(ids) }, select);
    const counts = new Map<string, number>();
    for (const { postId, deletedAt } of comments)
      if (deletedAt === null) counts.set(postId, (counts.get(postId) ?? 0) + 1);
    await this.posts.uncountComments(tx, counts);
    return comments.length;
  }
}
