import { Injectable } from '@nestjs/common';
import { InvalidToken } from '../../platform/access/access.errors.js';
import type { Caller } from '../../platform/access/caller.js';
import { Clock } from '../../platform/clock.js';
import { AppConfig } from '../../platform/config/app-config.js';
import type { CounterCache } from '../../platform/database/counter-cache.js';
import { GroupCommit } from '../../platform/database/group-commit.js';
import { isDeep, pageOf, type Page, type Paging } from '../../platform/database/list-page.js';
import { TransactionRunner, type Transaction } from '../../platform/database/transaction.js';
import { NotFound } from '../../platform/errors.js';
import { Idempotency, type Outcome } from '../../platform/http/idempotency/idempotency.service.js';
import { newId } from '../../platform/ids.js';
import { CallLog } from '../quota/calls/call-log.service.js';
import { periodOf } from '../quota/quota-period.js';
import { QuotaService } from '../quota/quota.service.js';
import { UsersService } from '../users/users.service.js';
import type { PostDraft } from './create-post.request.js';
import type { Post } from './post.entities.js';
import {
  PostsRepository,
  type PostCounts,
  type PostDetails,
  type PostItem,
  type PublicPost,
} from './posts.repository.js';

const DEFAULTS = {
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
} satisfies Partial<Post>;

/** One error for missing, deleted and other users' posts, so that apps cannot distinguish them (product requirements, section 4.2, rule 2). */
export class PostNotFound extends NotFound {
  constructor() {
    super('The user has no post with this id.');
  }
}

/** The fields that the service adds to a draft. `createdAt` is ISO 8601 in UTC, with milliseconds. */
export interface PublishedPost {
  id: string;
  permalink: string;
  createdAt: string;
}

interface Publish {
  caller: Caller;
  post: Post;
  /** Stores the result under the Idempotency-Key of the request; undefined without a key. */
  saveResult: ((tx: Transaction) => Promise<void>) | undefined;
}

@Injectable()
export class PostsService {
  private readonly commits: GroupCommit<Publish, void>;

  constructor(
    private readonly repository: PostsRepository,
    private readonly users: UsersService,
    private readonly quota: QuotaService,
    private readonly calls: CallLog,
    private readonly idempotency: Idempotency,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {
    this.commits = new GroupCommit(transactions, {
      batch: async (tx, publishes) => {
        await this.write(tx, publishes);
        return publishes.map(() => undefined);
      },
      single: (tx, publish) => this.write(tx, [publish]),
      groupOf,
      keyOf: ({ post }) => post.userId,
    });
  }

  /**
   * Publishes a post on behalf of the user and counts it against the app's monthly quota. Idempotency key, post, counter, call
   * record and quota commit in one transaction (product requirements, sections 3 and 8). Repeating an Idempotency-Key returns the
   * first result.
   * @throws QuotaExceeded if the app has no posts left in this UTC month; InvalidToken if the user was blocked in the meantime;
   *   IdempotencyKeyReused; IdempotencyKeyInUse
   */
  publish(caller: Caller, draft: PostDraft, key?: string): Promise<Outcome<PublishedPost>> {
    const { clientId, userId } = caller;
    const request = { clientId, userId, key, route: 'POST /posts', body: draft };
    const outcome = this.idempotency.once<PublishedPost>(request, async (saveResult) => {
      const location =
        draft.latitude === undefined
          ? await this.users.savedLocation(userId)
          : { neighborhood: null };
      const createdAt = this.clock.now();
      const id = newId('post', createdAt);
      const post: Post = { ...DEFAULTS, ...location, ...draft, id, userId, clientId, createdAt };
      const permalink = this.permalink(id);
      const published = { id, permalink, createdAt: createdAt.toISOString() };
      await this.commits.run({
        caller,
        post,
        saveResult: saveResult && ((tx) => saveResult(tx, published)),
      });
      return published;
    });
    // The call log needs the outcome: `write` records a new publish, but not a replay or a failure.
    this.calls.waitForPublish(caller, outcome);
    return outcome;
  }

  /** Writes the posts of one transaction. The app's quota row comes last, so that it is locked for one round trip only. */
  private async write(tx: Transaction, publishes: readonly Publish[]): Promise<void> {
    const posts = publishes.map(({ post }) => post);
    // `groupOf` ensures that all have the app, limit and month of the first.
    const [first] = publishes as [Publish];
    for (const { saveResult } of publishes) await saveResult?.(tx);
    await this.repository.insertAll(tx, posts);
    const userIds = posts.map(({ userId }) => userId);
    if (!(await this.users.incrementPostCountsOfActive(tx, userIds))) throw InvalidToken.unknown();
    const now = this.clock.now().getTime();
    const calls = publishes.map(({ caller: { clientId, userId, requestId, receivedAt }, post }) => {
      const durationMs = now - receivedAt.getTime();
      return { at: post.createdAt, clientId, userId, durationMs, requestId };
    });
    await this.calls.recordPublishes(tx, calls);
    const { clientId, postLimit } = first.caller;
    await this.quota.consume(tx, clientId, postLimit, first.post.createdAt, posts.length);
  }

  /** A page of the user's posts, newest first. */
  async list(userId: string, paging: Paging): Promise<Page<PostItem>> {
    const count = this.users.postCount(userId);
    // The statement of a deep page depends on the total, so it waits for the count.
    const totalIfDeep = isDeep(paging) ? await count : undefined;
    const [total, found] = await Promise.all([
      count,
      this.repository.findOwnPage(userId, paging, totalIfDeep),
    ]);
    return pageOf(found, paging, total);
  }

  /** @throws PostNotFound */
  async read(userId: string, id: string): Promise<PostDetails> {
    const post = await this.repository.findOwn(userId, id);
    if (!post) throw new PostNotFound();
    return post;
  }

  /** The like and comment counts of a post. @throws PostNotFound */
  async counts(userId: string, id: string): Promise<PostCounts> {
    const counts = await this.repository.findOwnCounts(userId, id);
    if (!counts) throw new PostNotFound();
    return counts;
  }

  /**
   * @throws PostNotFound also if the post is not public, its author was blocked or erased, the posts of its app are hidden, or
   *   permalinks point to another site
   */
  async readPublic(id: string): Promise<PublicPost> {
    if (this.config.siteUrl !== this.config.publicUrl) throw new PostNotFound();
    const post = await this.repository.findPublic(id);
    if (!post) throw new PostNotFound();
    return post;
  }

  /** @throws PostNotFound also if the post is already deleted */
  async delete(userId: string, id: string): Promise<void> {
    const now = this.clock.now();
    await this.transactions.run(async (tx) => {
      if (!(await this.repository.softDeleteOwn(tx, userId, id, now))) throw new PostNotFound();
      await this.users.decrementPostCount(tx, userId);
    });
  }

  /** Locks the user's post until the transaction ends, and counts a new comment. @throws PostNotFound */
  async incrementCommentCount(tx: Transaction, userId: string, id: string): Promise<void> {
    if (!(await this.repository.incrementOwnCommentCount(tx, userId, id))) throw new PostNotFound();
  }

  decrementCommentCount(tx: Transaction, id: string): Promise<void> {
    return this.repository.decrementCommentCount(tx, id);
  }

  /** Used by the demo. The developer API has no endpoint for likes. */
  async like(userId: string, postId: string): Promise<void> {
    const createdAt = this.clock.now();
    await this.transactions.run((tx) =>
      this.repository.insertLike(tx, { postId, userId, createdAt }),
    );
  }

  counters(): CounterCache[] {
    return this.repository.counters();
  }

  /** The public URL of a post (product requirements, section 2). */
  permalink(id: string): string {
    return `${this.config.siteUrl}/post/${id}`;
  }
}

/**
 * The group of publishes that may share a transaction; undefined for a publish with an idempotency key, which runs alone. A
 * transaction updates the quota of one app only, so that apps do not wait for each other.
 */
function groupOf({ caller, post, saveResult }: Publish): string | undefined {
  const { clientId, postLimit } = caller;
  return saveResult ? undefined : `${clientId} ${postLimit} ${periodOf(post.createdAt)}`;
}
