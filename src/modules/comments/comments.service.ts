import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/access/caller.js';
import { AuditLog, type Change } from '../../platform/audit/audit-log.repository.js';
import { Clock } from '../../platform/clock.js';
import { InvalidRequest, NotFound } from '../../platform/errors.js';
import { isId, newId } from '../../platform/ids.js';
import {
  isDeep,
  type ListPaging,
  pageOf,
  type Page,
  type Paging,
  type Part,
  partOf,
} from '../../platform/database/list-page.js';
import type { ItemSearch } from '../../platform/database/rows-in-pages.js';
import { GroupCommit } from '../../platform/database/group-commit.js';
import { type Transaction, TransactionRunner } from '../../platform/database/transaction.js';
import {
  Idempotency,
  keyedRequest,
  type KeyedRequest,
  type Outcome,
} from '../../platform/http/idempotency/idempotency.service.js';
import { EventOutbox } from '../events/event-outbox.service.js';
import { PostNotFound, PostsService } from '../posts/posts.service.js';
import { UsersService } from '../users/users.service.js';
import type { Comment } from './comment.entity.js';
import { CommentsRepository, type ListedComment } from './comments.repository.js';

/** The comment does not exist, was deleted, or was written by another user (product requirements, section 4.2, rule 4). */
export class CommentNotFound extends NotFound {
  constructor() {
    super('The user has no comment with this id.');
  }
}

/** The parent comment does not exist, was deleted, or is on another post (product requirements, section 4.2, rule 5). */
export function parentNotOnPost(): InvalidRequest {
  return InvalidRequest.field(
    'parentId',
    'invalid_reference',
    'parentId must be the id of a comment on this post.',
  );
}

/** The fields that the service adds to a draft. `createdAt` is ISO 8601 in UTC, with milliseconds. */
export interface AddedComment extends Pick<ListedComment, 'id' | 'author'> {
  createdAt: string;
  permalink: string;
}

interface Draft {
  text: string;
  parentId: string | null;
}

interface Authorship {
  authorId: string;
  /** The app; none for a comment of the network itself. */
  clientId?: string | null;
}

interface Addition {
  /** The author of the post. */
  ownerId: string;
  comment: Comment;
  request: KeyedRequest | undefined;
  result: AddedComment;
}

@Injectable()
export class CommentsService {
  private readonly additions: GroupCommit<Addition, AddedComment>;

  constructor(
    private readonly repository: CommentsRepository,
    private readonly posts: PostsService,
    private readonly users: UsersService,
    private readonly idempotency: Idempotency,
    private readonly events: EventOutbox,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {
    this.additions = new GroupCommit(transactions, {
      write: (tx, additions) => this.write(tx, additions),
      groupOf: () => 'additions',
      keyOf: ({ comment }) => comment.postId,
    });
  }

  /** A page of the comments on the user's post, newest first. @throws PostNotFound */
  async list(userId: string, postId: string, paging: Paging): Promise<Page<ListedComment>> {
    if (!isId('post', postId)) throw new PostNotFound();
    const counts = this.posts.counts(userId, postId);
    // The statement of a deep page depends on the total, so it waits for the count.
    const totalIfDeep = isDeep(paging) ? (await counts).commentCount : undefined;
    const [{ commentCount }, found] = await Promise.all([
      counts,
      this.repository.findPage(postId, paging, totalIfDeep),
    ]);
    return pageOf(found, paging, commentCount);
  }

  /** The public URL of the post. */
  permalink(postId: string): string {
    return this.posts.permalink(postId);
  }

  /**
   * Adds a comment by the user to one of the user's posts. Repeating an Idempotency-Key returns the first result.
   * @throws PostNotFound; InvalidRequest if `parentId` is not a comment on this post; IdempotencyKeyReused;
   *   IdempotencyKeyInUse
   */
  async create(
    caller: Caller,
    postId: string,
    draft: Draft,
    key?: string,
  ): Promise<Outcome<AddedComment>> {
    const { userId, clientId } = caller;
    const request = keyedRequest(caller, {
      key,
      route: `POST /posts/${postId}/comments`,
      body: draft,
    });
    const earlier = await this.idempotency.find<AddedComment>(request);
    if (earlier) return { result: earlier, replayed: true };
    try {
      const result = await this.add(
        userId,
        postId,
        { ...draft, authorId: userId, clientId },
        request,
      );
      return { result, replayed: false };
    } catch (error) {
      const first = await this.idempotency.resultAfter<AddedComment>(error, request);
      return { result: first, replayed: true };
    }
  }

  /**
   * Adds a comment by any author to a post of `ownerId`.
   * @throws PostNotFound; InvalidRequest if `parentId` is not a comment on this post; IdempotencyKeyInUse
   */
  async add(
    ownerId: string,
    postId: string,
    { text, parentId, authorId, clientId = null }: Draft & Authorship,
    request?: KeyedRequest,
  ): Promise<AddedComment> {
    if (!isId('post', postId)) throw new PostNotFound();
    const createdAt = this.clock.now();
    const id = newId('cmt', createdAt);
    // Read before the transaction: after the commit, an error would hide that the comment was added.
    const author = (await this.users.author(authorId)) ?? {
      id: authorId,
      name: '',
      photoUrl: null,
    };
    const permalink = this.permalink(postId);
    const result = { id, author, createdAt: createdAt.toISOString(), permalink };
    const comment: Comment = {
      id,
      postId,
      userId: authorId,
      clientId,
      parentId,
      text,
      createdAt,
      deletedAt: null,
    };
    return this.additions.run({ ownerId, comment, request, result });
  }

  /** Adds comments to different posts. */
  private async write(
    tx: Transaction,
    additions: readonly [Addition, ...Addition[]],
  ): Promise<AddedComment[]> {
    await this.idempotency.save(tx, additions);
    const posts = additions.map(({ ownerId, comment }) => ({
      id: comment.postId,
      userId: ownerId,
    }));
    if (!(await this.repository.incrementCountsOfOwnPosts(tx, posts))) throw new PostNotFound();
    const comments = additions.map(({ comment }) => comment);
    for (const { parentId, postId } of comments)
      if (parentId !== null && !(await this.repository.existsOnPost(tx, parentId, postId)))
        throw parentNotOnPost();
    await this.repository.insertAll(tx, comments);
    await this.events.commentsChanged(tx, 'comment.created', comments);
    return additions.map(({ result }) => result);
  }

  /** @throws CommentNotFound if the user wrote no such comment, or already deleted it */
  async delete(userId: string, id: string): Promise<void> {
    const now = this.clock.now();
    await this.transactions.run(async (tx) => {
      if (!(await this.softDelete(tx, userId, id, now))) throw new CommentNotFound();
    });
  }

  /** Those of these comments that can be read: they and their posts are not deleted. */
  existing(ids: readonly string[]): Promise<(ListedComment & { postId: string })[]> {
    return this.repository.findAll(ids);
  }

  /** Comments of any user, deleted or not, newest first, for operators. */
  async find(search: ItemSearch, paging: ListPaging): Promise<Part<Comment>> {
    return partOf(await this.repository.findAnyOf(search, paging), paging);
  }

  /** A comment of any user, deleted or not, for operators. @throws NotFound */
  async get(id: string): Promise<Comment> {
    const comment = isId('cmt', id) ? await this.repository.findAny(id) : null;
    if (!comment)
      throw new NotFound(
        `There is no comment ${id}: it never existed or was permanently deleted. Check the id, which the API returns in the list of comments of a post.`,
      );
    return comment;
  }

  /** Deletes a comment of any user, for operators. Returns false if it was already deleted. @throws NotFound */
  async remove(id: string, change: Change): Promise<boolean> {
    const { userId, postId } = await this.get(id);
    const now = this.clock.now();
    return this.transactions.run(async (tx) => {
      const removed = await this.softDelete(tx, userId, id, now);
      if (removed) await this.audit.record(tx, 'comment.removed', id, change, { userId, postId });
      return removed;
    });
  }

  /** Returns false if the user has no such comment. */
  private async softDelete(
    tx: Transaction,
    userId: string,
    id: string,
    now: Date,
  ): Promise<boolean> {
    const postId = await this.repository.softDeleteOwn(tx, userId, id, now);
    if (postId === undefined) return false;
    await this.events.commentsChanged(tx, 'comment.deleted', [{ id, postId }]);
    return true;
  }
}
