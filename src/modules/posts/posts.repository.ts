import { Injectable } from '@nestjs/common';
import { DataSource, In, IsNull, type FindOptionsWhere } from 'typeorm';
import { isId } from '../../common/ids.js';
import type { Paging } from '../../common/page.js';
import { keptCounter, type KeptCounter } from '../../database/kept-counter.js';
import { cutPage } from '../../database/page-of-ids.js';
import { entities, type Transaction } from '../../database/transaction.js';
import { User } from '../users/user.entity.js';
import { PostLike } from './post-like.entity.js';
import { Post } from './post.entity.js';
import { PostNotFound } from './posts.errors.js';

export type PostItem = Pick<Post, 'id' | 'content' | 'createdAt'>;
export type PostDetails = PostItem & Pick<Post, 'tags' | 'reachKm' | 'visibility'>;
export type PostCounts = Pick<Post, 'id' | 'likeCount' | 'commentCount' | 'createdAt'>;

const ITEM = ['id', 'content', 'createdAt'] as const;
const DETAILS = [...ITEM, 'tags', 'reachKm', 'visibility'] as const;
const COUNTS = ['id', 'likeCount', 'commentCount', 'createdAt'] as const;

/** Every read names the owner: no query can return another user's post. */
@Injectable()
export class PostsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async insert(tx: Transaction, post: Post): Promise<void> {
    await entities(tx)
      .createQueryBuilder()
      .insert()
      .into(Post)
      .values(post)
      .updateEntity(false)
      .execute();
  }

  findOwn(userId: string, id: string): Promise<PostDetails | null> {
    return this.findOne(userId, id, DETAILS);
  }

  findOwnCounts(userId: string, id: string): Promise<PostCounts | null> {
    return this.findOne(userId, id, COUNTS);
  }

  /** Newest first, and one more than the page holds where the list goes on. Ids come from the index: no row is read to be skipped. */
  findOwnPage(userId: string, paging: Paging): Promise<PostItem[]> {
    return this.dataSource.manager
      .createQueryBuilder(Post, 'post')
      .select(ITEM.map((field) => `post.${field}`))
      .innerJoin(
        (ids) =>
          cutPage(
            ids
              .select('own.id', 'id')
              .from(Post, 'own')
              .where('own.userId = :userId AND own.deletedAt IS NULL', { userId }),
            'ix_posts_user_id',
            paging,
          ),
        'page',
        'page.id = post.id',
      )
      .orderBy('post.id', 'DESC')
      .getMany();
  }

  /** False when the user has no such post (any more). */
  async markDeleted(tx: Transaction, userId: string, id: string, now: Date): Promise<boolean> {
    const { affected } = await entities(tx).update(Post, ownPost(userId, id), { deletedAt: now });
    return affected === 1;
  }

  /** Counts a new comment on the user's post. False when the user has no such post: the comment must not be added. */
  async countOwnComment(tx: Transaction, userId: string, id: string): Promise<boolean> {
    const { affected } = await entities(tx).increment(Post, ownPost(userId, id), 'commentCount', 1);
    return affected === 1;
  }

  async uncountComment(tx: Transaction, id: string): Promise<void> {
    await entities(tx).decrement(Post, { id }, 'commentCount', 1);
  }

  /** Counts so many comments less on each of these posts. */
  async uncountComments(tx: Transaction, counts: ReadonlyMap<string, number>): Promise<void> {
    for (const count of new Set(counts.values())) {
      const ids = [...counts.keys()].filter((id) => counts.get(id) === count);
      await entities(tx).decrement(Post, { id: In(ids) }, 'commentCount', count);
    }
  }

  /** Counts one like less on each of these posts. */
  async uncountLikes(tx: Transaction, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await entities(tx).decrement(Post, { id: In(ids) }, 'likeCount', 1);
  }

  async insertLike(tx: Transaction, like: PostLike): Promise<void> {
    await entities(tx).insert(PostLike, like);
    await entities(tx).increment(Post, { id: like.postId }, 'likeCount', 1);
  }

  /** The counters of posts and likes. */
  counters(): KeptCounter[] {
    return [
      keptCounter(this.dataSource, {
        entity: User,
        column: 'postCount',
        counted: Post,
        where: 'counted.userId = owner.id',
        counts: 'counted.deletedAt IS NULL',
      }),
      keptCounter(this.dataSource, {
        entity: Post,
        column: 'likeCount',
        counted: PostLike,
        where: 'counted.postId = owner.id',
      }),
    ];
  }

  private async findOne(
    userId: string,
    id: string,
    fields: readonly (keyof Post)[],
  ): Promise<Post | null> {
    return this.dataSource.manager
      .createQueryBuilder(Post, 'post')
      .select(fields.map((field) => `post.${field}`))
      .where(ownPost(userId, id))
      .getOne();
  }
}

/** @throws PostNotFound when the id could not be one of a post: nothing else reaches SQL */
function ownPost(userId: string, id: string): FindOptionsWhere<Post> {
  if (!isId('post', id)) throw new PostNotFound();
  return { id, userId, deletedAt: IsNull() };
}
