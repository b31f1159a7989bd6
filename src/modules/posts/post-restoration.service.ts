import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../platform/audit/audit-log.repository.js';
import { Clock, DAY, later } from '../../platform/clock.js';
import { InvalidRequest, NotFound } from '../../platform/errors.js';
import { isId } from '../../platform/ids.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { TransactionRunner } from '../../platform/database/transaction.js';
import { UsersService } from '../users/users.service.js';
import { PostsRepository } from './posts.repository.js';

/** `restored` is false if the post was not deleted. */
export interface Restoration {
  id: string;
  userId: string;
  restored: boolean;
}

/** Restores posts deleted by mistake. For operators only. */
@Injectable()
export class PostRestoration {
  constructor(
    private readonly repository: PostsRepository,
    private readonly users: UsersService,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * The post's comments return with it, except those that were deleted themselves.
   * @throws NotFound if the post or its author was erased; InvalidRequest if the post was deleted too long ago
   */
  restore(id: string, change: Change): Promise<Restoration> {
    if (!isId('post', id)) throw unknownPost(id);
    const days = this.config.retention.deletedPosts;
    const since = later(this.clock.now(), -days * DAY);
    return this.transactions.run(async (tx) => {
      // Write first: on SQLite, a transaction that reads first fails if another process writes in between.
      const restored = await this.repository.undelete(tx, id, since);
      const post = await this.repository.findAny(tx, id);
      if (!post) throw unknownPost(id);
      const { userId, deletedAt } = post;
      if (deletedAt)
        throw new InvalidRequest(
          `${id} was deleted at ${deletedAt.toISOString()}, more than ${days} days ago (DELETED_POST_DAYS): it is about to be erased, and cannot be restored.`,
        );
      if (restored) {
        if (!(await this.users.countRestoredPost(tx, userId)))
          throw new NotFound(
            `The author of ${id} was erased, and a post without an author is not shown.`,
          );
        await this.audit.record(tx, 'post.restored', id, change, { userId });
      }
      return { id, userId, restored };
    });
  }
}

function unknownPost(id: string): NotFound {
  return new NotFound(
    `There is no post ${id}: it never existed, or it was erased for good. The id is in the app's request, and in the post's permalink.`,
  );
}
