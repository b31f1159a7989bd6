import { Injectable } from '@nestjs/common';
import { MoreThan } from 'typeorm';
import { entities, type Transaction } from '../../platform/database/transaction.js';
import { Post } from './post.entities.js';

export type Restorable = Pick<Post, 'id' | 'userId' | 'deletedAt'>;

/** Posts for an operator, who sees those that were deleted and whose they are. */
@Injectable()
export class PostRestorationRepository {
  /** False when the post is not deleted, was deleted at `since` or before, or is not there. */
  async undelete(tx: Transaction, id: string, since: Date): Promise<boolean> {
    const deleted = { id, deletedAt: MoreThan(since) };
    const { affected } = await entities(tx).update(Post, deleted, { deletedAt: null });
    return affected === 1;
  }

  find(tx: Transaction, id: string): Promise<Restorable | null> {
    return entities(tx).findOne(Post, {
      select: { id: true, userId: true, deletedAt: true },
      where: { id },
    });
  }
}
