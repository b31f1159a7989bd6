import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/access/caller.js';
import { Clock } from '../../platform/clock.js';
import { isId, newId } from '../../platform/ids.js';
import { pageOf, type Page, type Paging } from '../../platform/database/list-page.js';
import type { CounterCache } from '../../platform/database/counter-cache.js';
import { TransactionRunner, type Transaction } from '../../platform/database/transaction.js';
import {
  Idempotency,
  type Keep,
  type Outcome,
} from '../../platform/http/idempotency/idempotency.service.js';
import { PostsService } from '../posts/posts.service.js';
import { UsersService } from '../users/users.service.js';
import type { Comment } from './comment.entity.js';
import { CommentNotFound, parentNotOnPost } from './comments.errors.js';
import { CommentsRepository, type ListedComment } from './comments.repository.js';

/** What the service adds to what was sent; `createdAt` is ISO 8601 in UTC, with milliseconds. */
export interface AddedComment extends Pick<ListedComment, 'id' | 'author'> {
  createdAt: string;
  permalink: string;
}

interface Draft {
  text: string;
  parentId: string | null;
}

/** Comments on a user's own posts, and a user's own comments anywhere. */
@Injectable()
export class CommentsService {
  constructor(
    private readonly repository: CommentsRepository,
    private readonly posts: PostsService,
    private readonly users: UsersService,
    private readonly idempotency: Idempotency,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** One page, newest first, with the number of all. @throws PostNotFound */
  async list(userId: string, postId: string, paging: Paging): Promise<Page<ListedComment>> {
    const { commentCount } = await this.posts.counts(userId, postId);
    const found = await this.repository.findPage(postId, paging, commentCount);
    return pageOf(found, paging, commentCount);
  }

  /** The public URL of the post, where its comments are. */
  permalink(postId: string): string {
    return this.posts.permalink(postId);
  }

  /**
   * Adds a comment in the caller's name to one of their posts. With the Idempotency-Key of an earlier request, it answers
   * what that one added.
   * @throws PostNotFound; InvalidRequest when `parentId` is not a comment on this post; IdempotencyKeyReused;
   *   IdempotencyKeyInUse
   */
  comment(
    { clientId, userId }: Caller,
    postId: string,
    draft: Draft,
    key?: string,
  ): Promise<Outcome<AddedComment>> {
    const request = { clientId, userId, key, route: `POST /posts/${postId}/comments`, body: draft };
    return this.idempotency.once<AddedComment>(request, (keep) =>
      this.add(userId, postId, { ...draft, authorId: userId }, keep),
    );
  }

  /**
   * Adds a comment by anybody to a post of `ownerId`, as the network itself does.
   * @throws PostNotFound; InvalidRequest when `parentId` is not a comment on this post
   */
  async add(
    ownerId: string,
    postId: string,
    { text, parentId, authorId }: Draft & { authorId: string },
    keep?: Keep<AddedComment>,
  ): Promise<AddedComment> {
    const now = this.clock.now();
    const id = newId('cmt', now);
    const comment: Comment = {
      id,
      postId,
      userId: authorId,
      parentId,
      text,
      createdAt: now,
      deletedAt: null,
    };
    // Read before anything is written: a failure after the commit would look like a comment that was not added.
    const author = (await this.users.author(authorId)) ?? {
      id: authorId,
      name: '',
      photoUrl: null,
    };
    const permalink = this.permalink(postId);
    const added = { id, author, createdAt: now.toISOString(), permalink };
    await this.transactions.run(async (tx) => {
      await keep?.(tx, added);
      await this.posts.countComment(tx, ownerId, postId);
      if (parentId !== null && !(await this.isOnPost(tx, parentId, postId)))
        throw parentNotOnPost();
      await this.repository.insert(tx, comment);
    });
    return added;
  }

  /** @throws CommentNotFound when the user wrote no such comment, or deleted it before */
  async delete(userId: string, id: string): Promise<void> {
    const now = this.clock.now();
    await this.transactions.run(async (tx) => {
      // Written before anything is read: on SQLite, a unit that reads first loses against whoever writes meanwhile.
      if (!(await this.repository.markDeleted(tx, userId, id, now))) throw new CommentNotFound();
      await this.posts.uncountComment(tx, await this.repository.postOf(tx, id));
    });
  }

  /** What is kept in step with comments, and can be counted again. */
  counters(): CounterCache[] {
    return this.repository.counters();
  }

  private async isOnPost(tx: Transaction, id: string, postId: string): Promise<boolean> {
    return isId('cmt', id) && this.repository.existsOnPost(tx, id, postId);
  }
}
