import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../platform/audit/audit-log.repository.js';
import { Clock, DAY, later } from '../../platform/clock.js';
import { InvalidRequest, NotFound } from '../../platform/errors.js';
import { isId } from '../../platform/ids.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { TransactionRunner, type Transaction } from '../../platform/database/transaction.js';
import { UsersService } from '../users/users.service.js';
import { PostRestorationRepository, type Restorable } from './post-restoration.repository.js';

/** `restored` is false when the post was not deleted. */
export interface Restoration {
  id: string;
  userId: string;
  restored: boolean;
}

/** Brings back what a user or an app deleted by mistake, by operators only. */
@Injectable()
export class PostRestoration {
  constructor(
    private readonly repository: PostRestorationRepository,
    private readonly users: UsersService,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Comments come back with the post as they were: those that were deleted themselves stay deleted.
   * @throws NotFound when the post or its author is gone for good; InvalidRequest when it was deleted too long ago
   */
  restore(id: string, change: Change): Promise<Restoration> {
    if (!isId('post', id)) throw unknownPost(id);
    const days = this.config.retention.deletedPosts;
    const since = later(this.clock.now(), -days * DAY);
    return this.transactions.run(async (tx) => {
      // Written before anything is read: on SQLite, a unit that reads first loses against whoever writes meanwhile.
      const restored = await this.repository.undelete(tx, id, since);
      const post = await this.repository.find(tx, id);
      if (!post) throw unknownPost(id);
      if (restored) await this.countAndRecord(tx, post, change);
      else if (post.deletedAt) throw tooLate(id, post.deletedAt, days);
      return { id, userId: post.userId, restored };
    });
  }

  private async countAndRecord(tx: Transaction, post: Restorable, change: Change): Promise<void> {
    const { id, userId } = post;
    if (!(await this.users.countRestoredPost(tx, userId)))
      throw new NotFound(
        `The author of ${id} was erased, and a post without an author is not shown.`,
      );
    await this.audit.record(tx, 'post.restored', id, change, { userId });
  }
}

function unknownPost(id: string): NotFound {
  return new NotFound(
    `There is no post ${id}: it never existed, or it was erased for good. The id is in the app's request, and in the post's permalink.`,
  );
}

function tooLate(id: string, deletedAt: Date, days: number): InvalidRequest {
  return new InvalidRequest(
    `${id} was deleted at ${deletedAt.toISOString()}, more than ${days} days ago (DELETED_POST_DAYS): it is about to be erased, and cannot be restored.`,
  );
}
