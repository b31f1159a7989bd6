import { Injectable } from '@nestjs/common';
import {
  AuditEventReader,
  AuditLog,
  type Change,
} from '../../platform/audit/audit-log.repository.js';
import { Clock, DAY, addMilliseconds } from '../../platform/clock.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { type ListPaging, type Part, partOf } from '../../platform/database/list-page.js';
import type { ItemSearch } from '../../platform/database/rows-in-pages.js';
import { TransactionRunner } from '../../platform/database/transaction.js';
import { InvalidRequest, NotFound } from '../../platform/errors.js';
import { isId } from '../../platform/ids.js';
import { EventOutbox } from '../events/event-outbox.service.js';
import { CallLog } from '../quota/calls/call-log.service.js';
import type { Post } from './post.entities.js';
import { PostsRepository } from './posts.repository.js';
import { PostsService } from './posts.service.js';

export interface Deletion {
  at: Date;
  /** The operator, or the id of the author, who deletes through an app. Null if the audit log no longer covers the deletion. */
  by: string | null;
  /** The reason of the operator. */
  reason: string | null;
}

/** Access of operators to the posts of all users, deleted or not. */
@Injectable()
export class PostModeration {
  constructor(
    private readonly repository: PostsRepository,
    private readonly posts: PostsService,
    private readonly calls: CallLog,
    private readonly events: EventOutbox,
    private readonly audit: AuditLog,
    private readonly auditEvents: AuditEventReader,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** @param reference the id of a post, or its permalink @throws NotFound; InvalidRequest for the URL of something else */
  async get(reference: string): Promise<Post> {
    const id = this.idOf(reference);
    const post = isId('post', id) ? await this.repository.findAny(id) : null;
    if (!post) throw unknownPost(id);
    return post;
  }

  /** Null if the post is not deleted. */
  async deletionOf({
    id,
    userId,
    deletedAt,
  }: Pick<Post, 'id' | 'userId' | 'deletedAt'>): Promise<Deletion | null> {
    if (!deletedAt) return null;
    const action = 'post.removed';
    const removals = this.auditEvents.search({ since: deletedAt, userId, action });
    for await (const { subject, actor, reason } of removals)
      if (subject === id) return { at: deletedAt, by: actor, reason };
    // The audit log has the deletions by operators only.
    const isCovered = deletedAt > this.daysAgo(this.config.retention.auditLog);
    return { at: deletedAt, by: isCovered ? userId : null, reason: null };
  }

  /** The id that a permalink ends with. People paste permalinks with a query or a fragment, too. */
  idOf(reference: string): string {
    if (!URL.canParse(reference)) return reference;
    const { origin, pathname } = new URL(reference);
    const base = this.posts.permalink('');
    if (!`${origin}${pathname}`.startsWith(base))
      throw new InvalidRequest(
        `${reference} is not a permalink of this service. They begin with ${base}.`,
      );
    return `${origin}${pathname}`.slice(base.length).replace(/\/$/, '');
  }

  /** The requests that published a post, from the call log: one, unless its author published twice in a millisecond. */
  requestsOf({ clientId, userId, createdAt }: Post): Promise<string[]> {
    return clientId === null
      ? Promise.resolve([])
      : this.calls.publishesAt(createdAt, clientId, userId);
  }

  /** Posts of any user, deleted or not, newest first. */
  async find(search: ItemSearch, paging: ListPaging): Promise<Part<Post>> {
    return partOf(await this.repository.findAnyOf(search, paging), paging);
  }

  /**
   * Deletes a post. `restore` undoes it. Returns false if it was already deleted.
   * @param publicReason for the app that published it
   * @throws NotFound
   */
  async remove(
    reference: string,
    change: Change,
    publicReason: string | undefined,
  ): Promise<boolean> {
    const { id, userId } = await this.get(reference);
    const now = this.clock.now();
    return this.transactions.run(async (tx) => {
      const removed = await this.repository.softDeleteOwn(tx, [{ id, userId }], now);
      if (!removed) return false;
      await this.audit.record(tx, 'post.removed', id, change, { userId });
      await this.events.postsDeleted(tx, [{ id }], publicReason);
      return true;
    });
  }

  /**
   * Restores a deleted post. Its comments become visible again, except those that were deleted themselves.
   * @param reference the id of a post, or its permalink
   * @returns the ids of the post and of its author, and false if the post was not deleted
   * @throws NotFound if the post or its author does not exist; InvalidRequest if the post was deleted too long ago
   */
  async restore(
    reference: string,
    change: Change,
  ): Promise<{ id: string; userId: string; restored: boolean }> {
    const id = this.idOf(reference);
    if (!isId('post', id)) throw unknownPost(id);
    const days = this.config.retention.deletedPosts;
    const since = this.daysAgo(days);
    return this.transactions.run(async (tx) => {
      // Write first: on SQLite, a transaction that reads first fails if another process writes in between.
      const restored = await this.repository.undelete(tx, id, since);
      const post = await this.repository.findAny(id, tx);
      if (!post) throw unknownPost(id);
      const { userId, deletedAt } = post;
      if (deletedAt)
        throw new InvalidRequest(
          `${id} was deleted at ${deletedAt.toISOString()}, more than ${days} days ago (DELETED_POST_DAYS). It can no longer be restored.`,
        );
      if (restored) {
        if (!(await this.repository.incrementPostCount(tx, userId)))
          throw new NotFound(`The author of ${id} was erased, so the post cannot be restored.`);
        await this.audit.record(tx, 'post.restored', id, change, { userId });
      }
      return { id, userId, restored };
    });
  }

  private daysAgo(days: number): Date {
    return addMilliseconds(this.clock.now(), -days * DAY);
  }
}

function unknownPost(id: string): NotFound {
  return new NotFound(
    `There is no post ${id}: it never existed or was permanently deleted. Check the id in the post's permalink.`,
  );
}
