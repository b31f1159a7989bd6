import { Injectable } from '@nestjs/common';
import { Clock, DAY, later, MINUTE } from '../../platform/clock.js';
import { isDeep, pageOf, type Page, type Paging } from '../../platform/database/list-page.js';
import { AppConfig } from '../../platform/config/app-config.js';
import type { CounterCache } from '../../platform/database/counter-cache.js';
import type { ExpiredRows } from '../../platform/database/retention/expired-rows.js';
import { TransactionRunner, type Transaction } from '../../platform/database/transaction.js';
import { NotFound } from '../../platform/errors.js';
import { isId } from '../../platform/ids.js';
import { UsersService } from '../users/users.service.js';
import {
  PostsRepository,
  type PostCounts,
  type PostDetails,
  type PostItem,
  type PublicPost,
} from './posts.repository.js';

/** More than the clocks of two processes may differ by: no process erases a post that another may still restore. */
const CLOCK_MARGIN_MS = MINUTE;

/** The same for a missing, a deleted and another user's post, so that callers cannot tell them apart (source document, section 4.2, rule 2). */
export class PostNotFound extends NotFound {
  constructor() {
    super('There is no such post among the posts of this user.');
  }
}

@Injectable()
export class PostsService {
  constructor(
    private readonly repository: PostsRepository,
    private readonly users: UsersService,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** A page of the user's posts, newest first. */
  async list(userId: string, paging: Paging): Promise<Page<PostItem>> {
    const count = this.users.postCount(userId);
    const known = isDeep(paging) ? await count : undefined;
    const [total, found] = await Promise.all([
      count,
      this.repository.findOwnPage(userId, paging, known),
    ]);
    return pageOf(found, paging, total);
  }

  /** @throws PostNotFound */
  async read(userId: string, id: string): Promise<PostDetails> {
    const post = await this.repository.findOwn(userId, id);
    if (!post) throw new PostNotFound();
    return post;
  }

  /** Likes and comments of a post. @throws PostNotFound */
  async counts(userId: string, id: string): Promise<PostCounts> {
    const counts = await this.repository.findOwnCounts(userId, id);
    if (!counts) throw new PostNotFound();
    return counts;
  }

  /** @throws PostNotFound also if the post is not public, or permalinks lead to another site */
  async readPublic(id: string): Promise<PublicPost & { author: string }> {
    if (this.config.siteUrl !== this.config.publicUrl) throw new PostNotFound();
    const post = isId('post', id) ? await this.repository.findPublic(id) : null;
    if (!post) throw new PostNotFound();
    const author = await this.users.author(post.userId);
    if (!author) throw new PostNotFound();
    return { ...post, author: author.name };
  }

  /** @throws PostNotFound also if the post is already deleted */
  async delete(userId: string, id: string): Promise<void> {
    const now = this.clock.now();
    await this.transactions.run(async (tx) => {
      if (!(await this.repository.markOwnDeleted(tx, userId, id, now))) throw new PostNotFound();
      await this.users.uncountPost(tx, userId);
    });
  }

  /** Counts a new comment on the user's post, and locks the post until the transaction ends. @throws PostNotFound */
  async countComment(tx: Transaction, userId: string, id: string): Promise<void> {
    if (!(await this.repository.countOwnComment(tx, userId, id))) throw new PostNotFound();
  }

  /** @param counts the number of removed comments by post id */
  uncountComments(tx: Transaction, counts: ReadonlyMap<string, number>): Promise<void> {
    return this.repository.uncountComments(tx, counts);
  }

  /** For the network itself and the demo: the developer API has no endpoint for likes. */
  async like(userId: string, postId: string): Promise<void> {
    const createdAt = this.clock.now();
    await this.transactions.run((tx) =>
      this.repository.insertLike(tx, { postId, userId, createdAt }),
    );
  }

  counters(): CounterCache[] {
    return this.repository.counters();
  }

  /** Posts and comments deleted at this moment or before have passed their retention. */
  deletionCutoff(now: Date): Date {
    return later(now, -this.config.retention.deletedPosts * DAY - CLOCK_MARGIN_MS);
  }

  /** The ids of the posts past retention, in batches. Rows that belong to a post are deleted before it. */
  expiredIds(now: Date): AsyncIterable<string[]> {
    return this.repository.findDeletedIds(this.deletionCutoff(now));
  }

  /** These posts and their likes, in the order of deletion. */
  expired(ids: readonly string[], now: Date): ExpiredRows[] {
    return this.repository.expired(ids, this.deletionCutoff(now));
  }

  /** The public URL of a post (source document, section 2). */
  permalink(id: string): string {
    return `${this.config.siteUrl}/post/${id}`;
  }
}
