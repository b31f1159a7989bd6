import { Injectable } from '@nestjs/common';
import { InvalidToken } from '../../platform/access/access.errors.js';
import type { Caller } from '../../platform/access/caller.js';
import { Clock } from '../../platform/clock.js';
import { newId } from '../../platform/ids.js';
import { GroupCommit } from '../../platform/database/group-commit.js';
import { TransactionRunner, type Transaction } from '../../platform/database/transaction.js';
import {
  Idempotency,
  type Keep,
  type Outcome,
} from '../../platform/http/idempotency/idempotency.service.js';
import { CallLog } from '../quota/calls/call-log.service.js';
import { periodOf } from '../quota/quota-period.js';
import { QuotaService } from '../quota/quota.service.js';
import { UsersService } from '../users/users.service.js';
import type { PostDraft } from './create-post.request.js';
import type { Post } from './post.entities.js';
import { PostsRepository } from './posts.repository.js';
import { PostsService } from './posts.service.js';

/** The fields that the service adds to a draft. `createdAt` is ISO 8601 in UTC, with milliseconds. */
export interface PublishedPost {
  id: string;
  permalink: string;
  createdAt: string;
}

interface Publish {
  caller: Caller;
  post: Post;
  keep: ((tx: Transaction) => Promise<void>) | undefined;
}

/** Publishes posts and spends the apps' quota. */
@Injectable()
export class Publisher {
  private readonly commits: GroupCommit<Publish, unknown>;

  constructor(
    private readonly repository: PostsRepository,
    private readonly posts: PostsService,
    private readonly users: UsersService,
    private readonly quota: QuotaService,
    private readonly calls: CallLog,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
    transactions: TransactionRunner,
  ) {
    this.commits = new GroupCommit(transactions, {
      batch: (tx, publishes) => this.write(tx, publishes),
      single: (tx, publish) => this.write(tx, [publish]),
      groupOf,
      keyOf: ({ post }) => post.userId,
    });
  }

  /**
   * Publishes in the caller's name and spends one post of the app's month. Idempotency key, post, counter, call record and quota
   * commit together (source document, sections 3 and 8). Repeating an Idempotency-Key returns the first result.
   * @throws QuotaExceeded if the app has no posts left in this UTC month; InvalidToken if the user was blocked in the meantime;
   *   IdempotencyKeyReused; IdempotencyKeyInUse
   */
  publish(caller: Caller, draft: PostDraft, key?: string): Promise<Outcome<PublishedPost>> {
    const { clientId, userId } = caller;
    const request = { clientId, userId, key, route: 'POST /posts', body: draft };
    const outcome = this.idempotency.once<PublishedPost>(request, (keep) =>
      this.publishOnce(caller, draft, keep),
    );
    this.calls.awaitPublish(caller, outcome);
    return outcome;
  }

  private async publishOnce(
    caller: Caller,
    draft: PostDraft,
    keep: Keep<PublishedPost> | undefined,
  ): Promise<PublishedPost> {
    const { clientId, userId } = caller;
    const location =
      draft.latitude === undefined
        ? await this.users.savedLocation(userId)
        : { neighborhood: null };
    const createdAt = this.clock.now();
    const id = newId('post', createdAt);
    const post: Post = { ...BLANK, ...location, ...draft, id, userId, clientId, createdAt };
    const permalink = this.posts.permalink(id);
    const published = { id, permalink, createdAt: createdAt.toISOString() };
    await this.commits.run({ caller, post, keep: keep && ((tx) => keep(tx, published)) });
    return published;
  }

  /** Writes one group. The app's quota row comes last, so that it is locked for one round trip only. */
  private async write(tx: Transaction, publishes: readonly Publish[]): Promise<unknown[]> {
    const posts = publishes.map(({ post }) => post);
    const [first] = publishes as [Publish];
    for (const { keep } of publishes) await keep?.(tx);
    await this.repository.insertAll(tx, posts);
    const userIds = posts.map(({ userId }) => userId);
    if (!(await this.users.countPosts(tx, userIds))) throw InvalidToken.unknown();
    const now = this.clock.now().getTime();
    const calls = publishes.map(({ caller: { clientId, userId, requestId, receivedAt }, post }) => {
      const durationMs = now - receivedAt.getTime();
      return { at: post.createdAt, clientId, userId, durationMs, requestId };
    });
    await this.calls.recordPublishes(tx, calls);
    const { clientId, postLimit } = first.caller;
    await this.quota.spend(tx, clientId, postLimit, first.post.createdAt, posts.length);
    return posts;
  }
}

/** Groups share the month of one app, so that no app waits for another. Publishes with an idempotency key are not grouped. */
function groupOf({ caller, post, keep }: Publish): string | undefined {
  const { clientId, postLimit } = caller;
  return keep ? undefined : `${clientId} ${postLimit} ${periodOf(post.createdAt)}`;
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
