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
import type { PostDraft } from './post-draft.js';
import type { Post } from './post.entities.js';
import { PostsRepository } from './posts.repository.js';
import { PostsService } from './posts.service.js';

/** What the service adds to what was sent; `createdAt` is ISO 8601 in UTC, with milliseconds. */
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

/** Publishes posts, and spends the apps' quota for them. */
@Injectable()
export class Publisher {
  private readonly commits: GroupCommit<Publish, void>;

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
      single: async (tx, publish) => {
        await this.write(tx, [publish]);
      },
      groupOf,
      keyOf: ({ post }) => post.userId,
    });
  }

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
    const outcome = this.idempotency.once<PublishedPost>(request, (keep) =>
      this.publishOnce(caller, draft, keep),
    );
    return this.calls.standFor(caller, outcome);
  }

  private async publishOnce(
    caller: Caller,
    draft: PostDraft,
    keep: Keep<PublishedPost> | undefined,
  ): Promise<PublishedPost> {
    const { clientId, userId } = caller;
    const place =
      draft.latitude === undefined ? await this.users.savedPlace(userId) : { neighborhood: null };
    const createdAt = this.clock.now();
    const id = newId('post', createdAt);
    const post: Post = { ...BLANK, ...place, ...draft, id, userId, clientId, createdAt };
    const permalink = this.posts.permalink(id);
    const published = { id, permalink, createdAt: createdAt.toISOString() };
    await this.commits.run({ caller, post, keep: keep && ((tx) => keep(tx, published)) });
    return published;
  }

  /** All of one group. The app's row is written last, so that it is locked for one round trip only. */
  private async write(tx: Transaction, publishes: readonly Publish[]): Promise<void[]> {
    const posts = publishes.map(({ post }) => post);
    const [first] = publishes as [Publish];
    for (const { keep } of publishes) await keep?.(tx);
    await this.repository.insertAll(tx, posts);
    const userIds = posts.map(({ userId }) => userId);
    if (!(await this.users.countPosts(tx, userIds))) throw InvalidToken.unknown();
    await this.calls.recordPublishes(tx, publishes.map(this.callOf));
    const { clientId, postLimit } = first.caller;
    await this.quota.spend(tx, clientId, postLimit, first.post.createdAt, posts.length);
    return posts.map(() => undefined);
  }

  private readonly callOf = ({ caller, post }: Publish) => {
    const { clientId, userId, requestId, receivedAt } = caller;
    const durationMs = this.clock.now().getTime() - receivedAt.getTime();
    return { at: post.createdAt, clientId, userId, durationMs, requestId };
  };
}

/** Publishes that spend the same month of the same app, so that no app waits for another's. */
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
