import { Injectable } from '@nestjs/common';
import { InvalidToken } from '../../platform/access/access.errors.js';
import type { Caller } from '../../platform/access/caller.js';
import { Clock } from '../../platform/clock.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { GroupCommit } from '../../platform/database/group-commit.js';
import { isDeep, pageOf, type Page, type Paging } from '../../platform/database/list-page.js';
import { TransactionRunner, type Transaction } from '../../platform/database/transaction.js';
import { NotFound } from '../../platform/errors.js';
import {
  Idempotency,
  keyedRequest,
  type KeyedRequest,
  type Outcome,
} from '../../platform/http/idempotency/idempotency.service.js';
import { isId, newId } from '../../platform/ids.js';
import { EventOutbox } from '../events/event-outbox.service.js';
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
  at: Date;
  post: Post;
  request: KeyedRequest | undefined;
  result: PublishedPost;
}

/** `by` is the app. */
type Deletion = Pick<Post, 'id' | 'userId'> & { by: string };

@Injectable()
export class PostsService {
  private readonly publishes: GroupCommit<Publish, PublishedPost>;
  private readonly deletions: GroupCommit<Deletion, undefined>;

  constructor(
    private readonly repository: PostsRepository,
    private readonly users: UsersService,
    private readonly quota: QuotaService,
    private readonly events: EventOutbox,
    private readonly idempotency: Idempotency,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {
    this.publishes = new GroupCommit(transactions, {
      write: (tx, publishes) => this.write(tx, publishes),
      // A transaction updates the quota of one app only, so that apps do not wait for each other.
      groupOf: ({ caller, at }) => `${caller.clientId} ${caller.postLimit} ${periodOf(at)}`,
      keyOf: ({ post }) => post.userId,
    });
    this.deletions = new GroupCommit(transactions, {
      write: async (tx, posts) => {
        if (!(await this.repository.softDeleteOwn(tx, posts, this.clock.now())))
          throw new PostNotFound();
        await this.events.postsDeleted(tx, posts);
        return posts.map(() => undefined);
      },
      groupOf: () => 'deletions',
      keyOf: ({ userId }) => userId,
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
    const outcome = this.publishOnce(caller, draft, key);
    caller.publish = outcome;
    return outcome;
  }

  private async publishOnce(
    caller: Caller,
    draft: PostDraft,
    key: string | undefined,
  ): Promise<Outcome<PublishedPost>> {
    const { clientId, userId } = caller;
    const request = keyedRequest(caller, { key, route: 'POST /posts', body: draft });
    const earlier = await this.idempotency.find<PublishedPost>(request);
    if (earlier) return { result: earlier, replayed: true };
    const location = draft.latitude === undefined ? caller.savedLocation : { neighborhood: null };
    const at = this.clock.now();
    const id = newId('post', at);
    const post = { ...DEFAULTS, ...location, ...draft, id, userId, clientId, createdAt: at };
    const result = { id, permalink: this.permalink(id), createdAt: at.toISOString() };
    try {
      const published = await this.publishes.run({ caller, at, post, request, result });
      return { result: published, replayed: false };
    } catch (error) {
      const first = await this.idempotency.resultAfter<PublishedPost>(error, request);
      return { result: first, replayed: true };
    }
  }

  /** Writes posts of the same app, limit and month. */
  private async write(
    tx: Transaction,
    publishes: readonly [Publish, ...Publish[]],
  ): Promise<PublishedPost[]> {
    await this.idempotency.save(tx, publishes);
    const posts = publishes.map(({ post }) => post);
    await this.repository.insertAll(tx, posts);
    const userIds = posts.map(({ userId }) => userId);
    // A user was blocked or erased in the meantime.
    if (!(await this.repository.incrementPostCountsOfActive(tx, userIds)))
      throw InvalidToken.unknown();
    await this.quota.consume(tx, publishes);
    return publishes.map(({ result }) => result);
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
  async delete(
    { userId, clientId }: Pick<Caller, 'userId' | 'clientId'>,
    id: string,
  ): Promise<void> {
    if (!isId('post', id)) throw new PostNotFound();
    await this.deletions.run({ id, userId, by: clientId });
  }

  /** Used by the demo. The developer API has no endpoint for likes. */
  async like(userId: string, postId: string): Promise<void> {
    const createdAt = this.clock.now();
    await this.transactions.run((tx) =>
      this.repository.insertLike(tx, { postId, userId, createdAt }),
    );
  }

  /** The public URL of a post (product requirements, section 2). */
  permalink(id: string): string {
    return `${this.config.siteUrl}/post/${id}`;
  }
}
