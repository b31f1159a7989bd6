import { Injectable } from '@nestjs/common';
import { DataSource, IsNull } from 'typeorm';
import { isId } from '../../common/ids.js';
import type { Paging } from '../../common/page.js';
import { keptCounter, type KeptCounter } from '../../database/kept-counter.js';
import { cutPage } from '../../database/page-of-ids.js';
import { entities, type Transaction } from '../../database/transaction.js';
import { Post } from '../posts/post.entity.js';
import { Comment } from './comment.entity.js';

@Injectable()
export class CommentsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async insert(tx: Transaction, comment: Comment): Promise<void> {
    await entities(tx)
      .createQueryBuilder()
      .insert()
      .into(Comment)
      .values(comment)
      .updateEntity(false)
      .execute();
  }

  existsOnPost(tx: Transaction, id: string, postId: string): Promise<boolean> {
    return entities(tx).existsBy(Comment, { id, postId, deletedAt: IsNull() });
  }

  /** Newest first, and one more than the page holds where the list goes on. Ids come from the index: no row is read to be skipped. */
  findPage(postId: string, paging: Paging): Promise<Comment[]> {
    return this.dataSource.manager
      .createQueryBuilder(Comment, 'comment')
      .innerJoin(
        (ids) =>
          cutPage(
            ids
              .select('listed.id', 'id')
              .from(Comment, 'listed')
              .where('listed.postId = :postId AND listed.deletedAt IS NULL', { postId }),
            'ix_comments_post_id',
            paging,
          ),
        'page',
        'page.id = comment.id',
      )
      .orderBy('comment.id', 'DESC')
      .getMany();
  }

  /** The post that a comment is on. */
  async postOf(tx: Transaction, id: string): Promise<string> {
    const { postId } = await entities(tx).findOneOrFail(Comment, {
      select: { postId: true },
      where: { id },
    });
    return postId;
  }

  /** False when the user has no such comment (any more). */
  async markDeleted(tx: Transaction, userId: string, id: string, now: Date): Promise<boolean> {
    if (!isId('cmt', id)) return false;
    const { affected } = await entities(tx).update(
      Comment,
      { id, userId, deletedAt: IsNull() },
      { deletedAt: now },
    );
    return affected === 1;
  }

  /** The counter of comments. */
  counters(): KeptCounter[] {
    return [
      keptCounter(this.dataSource, {
        entity: Post,
        column: 'commentCount',
        counted: Comment,
        where: 'counted.postId = owner.id',
        counts: 'counted.deletedAt IS NULL',
      }),
    ];
  }
}
