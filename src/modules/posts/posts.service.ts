import { Injectable } from '@nestjs/common';
import { InvalidToken } from '../../access/access.errors.js';
import type { Caller } from '../../access/caller.js';
import { Clock } from '../../common/clock.js';
import { newId } from '../../common/ids.js';
import { pageOf, type Page, type Paging } from '../../common/page.js';
import { AppConfig } from '../../config/app-config.js';
import type { KeptCounter } from '../../database/kept-counter.js';
import { TransactionRunner, type Transaction } from '../../database/transaction.js';
import { Idempotency, type Keep, type Outcome } from '../../idempotency/idempotency.service.js';
import { CallLog } from '../quota/call-log.service.js';
import { QuotaService } from '../quota/quota.service.js';
import { UsersService } from '../users/users.service.js';
import type { PostDraft } from './post-draft.js';
import type { Post } from './post.entity.js';
import { PostNotFound } from './posts.errors.js';
import {
  PostsRepository,
  type PostCounts,
  type PostDetails,
  type PostItem,
} from './posts.repository.js';

/** What the service adds to what was sent; `createdAt` is ISO 8601 in UTC, with milliseconds. */
export interface PublishedPost {
  id: string;
  permalink: string;
  createdAt: string;
}

/** A user's own posts. */
@Injectable()
export class PostsService {
  constructor(
    private readonly repository: PostsRepository,
    private readonly users: UsersService,
    private readonly quota: QuotaService,
    private readonly calls: CallLog,
    private readonly idempotency: Idempotency,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Publishes in the caller's name and spends one post of the app's month. Key, post, counter, call record and quota commit
   * together or not at all (source document, sections 3 and 8). With the Idempotency-Key of an earlier request, it answers
   * what that one published.
   * @throws QuotaExceeded when the app's posts of the current UTC month are spent; InvalidToken when the user was blocked
   *   meanwhile; IdempotencyKeyReused; IdempotencyKeyInUse
   */
  publish(caller: Caller, draft: PostDraft, key?: string): Promise<Outcome<PublishedPost>> {
    const { clientId, userId } = caller;
    const request = { clientId, userId, key, route: 'POST /posts', body: draft };
    return this.idempotency.once<PublishedPost>(request, (keep) =>
      this.calls.standFor(caller, this.publishOnce(caller, draft, keep)),
    );
  }

  /** One page, newest first, with the number of all. */
  async list(userId: string, paging: Paging): Promise<Page<PostItem>> {
    const total = await this.users.postCount(userId);
    return pageOf(await this.repository.findOwnPage(userId, paging), paging, total);
  }

  /** @throws PostNotFound */
  async read(userId: string, id: string): Promise<PostDetails> {
    return found(await this.repository.findOwn(userId, id));
  }

  /** Likes and comments of a post. @throws PostNotFound */
  async counts(userId: string, id: string): Promise<PostCounts> {
    return found(await this.repository.findOwnCounts(userId, id));
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
  counters(): KeptCounter[] {
    return this.repository.counters();
  }

  /** The public URL of a post (source document, section 2). */
  permalink(id: string): string {
    return `${this.config.siteUrl}/post/${id}`;
  }

  private async publishOnce(
    caller: Caller,
    draft: PostDraft,
    keep: Keep<PublishedPost>,
  ): Promise<PublishedPost> {
    const { clientId, userId, requestId, receivedAt, postLimit } = caller;
    const place =
      draft.latitude === undefined ? await this.users.savedPlace(userId) : { neighborhood: null };
    const now = this.clock.now();
    const post: Post = {
      ...BLANK,
      ...place,
      ...draft,
      id: newId('post', now),
      userId,
      clientId,
      createdAt: now,
    };
    const { id } = post;
    const published = { id, permalink: this.permalink(id), createdAt: now.toISOString() };
    await this.transactions.run(async (tx) => {
      await keep(tx, published);
      await this.repository.insert(tx, post);
      if (!(await this.users.countPost(tx, userId))) throw InvalidToken.unknown();
      const durationMs = this.clock.now().getTime() - receivedAt.getTime();
      await this.calls.recordPublish(tx, { at: now, clientId, userId, durationMs, requestId });
      await this.quota.spend(tx, clientId, postLimit, now);
    });
    return published;
  }
}

const BLANK = {
  title: null,
  content: null,
  type: 'general',
  images: [],
  tags: [],
  latitude: null,
  longitude: null,
  reachKm: null,
  visibility: 'public',
  likeCount: 0,
  commentCount: 0,
  deletedAt: null,
} as const satisfies Partial<Omit<Post, 'images' | 'tags'>> & { images: []; tags: [] };

function found<T>(post: T | null): T {
  if (!post) throw new PostNotFound();
  return post;
}
