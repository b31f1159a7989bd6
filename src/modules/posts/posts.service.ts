import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { isDeep, pageOf, type Page, type Paging } from '../../platform/database/list-page.js';
import { AppConfig } from '../../platform/config/app-config.js';
import type { CounterCache } from '../../platform/database/counter-cache.js';
import { TransactionRunner, type Transaction } from '../../platform/database/transaction.js';
import { UsersService } from '../users/users.service.js';
import { PostNotFound } from './posts.errors.js';
import {
  PostsRepository,
  type PostCounts,
  type PostDetails,
  type PostItem,
} from './posts.repository.js';

/** A user's own posts. */
@Injectable()
export class PostsService {
  constructor(
    private readonly repository: PostsRepository,
    private readonly users: UsersService,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** One page, newest first, with the number of all. */
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
    return present(await this.repository.findOwn(userId, id));
  }

  /** Likes and comments of a post. @throws PostNotFound */
  async counts(userId: string, id: string): Promise<PostCounts> {
    return present(await this.repository.findOwnCounts(userId, id));
  }

  /** @throws PostNotFound, also when it was deleted before */
  async delete(userId: string, id: string): Promise<void> {
    const now = this.clock.now();
    await this.transactions.run(async (tx) => {
      if (!(await this.repository.markDeleted(tx, userId, id, now))) throw new PostNotFound();
      await this.users.uncountPost(tx, userId);
    });
  }

  /** Counts a comment that is being added to the user's post, and holds the post until the transaction ends. @throws PostNotFound */
  async countComment(tx: Transaction, userId: string, id: string): Promise<void> {
    if (!(await this.repository.countOwnComment(tx, userId, id))) throw new PostNotFound();
  }

  uncountComment(tx: Transaction, id: string): Promise<void> {
    return this.repository.uncountComment(tx, id);
  }

  /** Uncounts so many comments of each of these posts. */
  uncountComments(tx: Transaction, counts: ReadonlyMap<string, number>): Promise<void> {
    return this.repository.uncountComments(tx, counts);
  }

  /** Likes a post, as the network itself does: the developer API has no endpoint for it. */
  async like(userId: string, postId: string): Promise<void> {
    const createdAt = this.clock.now();
    await this.transactions.run((tx) =>
      this.repository.insertLike(tx, { postId, userId, createdAt }),
    );
  }

  /** What is kept in step with posts and likes, and can be counted again. */
  counters(): CounterCache[] {
    return this.repository.counters();
  }

  /** The public URL of a post (source document, section 2). */
  permalink(id: string): string {
    return `${this.config.siteUrl}/post/${id}`;
  }
}

function present<T>(post: T | null): T {
  if (!post) throw new PostNotFound();
  return post;
}
