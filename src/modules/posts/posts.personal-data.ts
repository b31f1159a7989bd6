import { Injectable } from '@nestjs/common';
import { DataSource, In, IsNull, Not, type FindOptionsWhere } from 'typeorm';
import { childRows } from '../../database/child-rows.js';
import { expiredRows, type ExpiredRows } from '../../database/expired-rows.js';
import {
  PersonalData,
  personalRows,
  type Person,
  type PersonalRows,
} from '../../database/personal-data.js';
import { entities, type Transaction } from '../../database/transaction.js';
import { unchanged } from '../../database/unchanged.js';
import { PostLike } from './post-like.entity.js';
import { Post } from './post.entity.js';
import { PostsRepository } from './posts.repository.js';

/** Posts, deleted ones that are kept included, and likes. */
@Injectable()
export class PostsPersonalData extends PersonalData {
  constructor(
    private readonly dataSource: DataSource,
    private readonly posts: PostsRepository,
  ) {
    super();
  }

  override held({ userId }: Person): PersonalRows[] {
    return [
      personalRows(this.dataSource, Post, postsOf(userId)),
      personalRows(this.dataSource, PostLike, [{ userId }], ['userId']),
    ];
  }

  override erased({ userId }: Person): ExpiredRows[] {
    return [
      childRows(this.dataSource, {
        parent: Post,
        wheres: postsOf(userId),
        child: PostLike,
        link: 'postId',
      }),
      this.likesBy(userId),
      expiredRows(this.dataSource, Post, { userId }, 'userId'),
    ];
  }

  /** Likes of others' posts, which count one less each. */
  private likesBy(userId: string): ExpiredRows {
    return {
      ...expiredRows(this.dataSource, PostLike, { userId }, 'userId'),
      delete: (tx, keys) =>
        this.deleteLikes(
          tx,
          userId,
          keys.map(({ postId }) => postId as string),
        ),
    };
  }

  /** Holds them first, so that of two units each counts its own. */
  private async deleteLikes(
    tx: Transaction,
    userId: string,
    postIds: readonly string[],
  ): Promise<number> {
    const where = { userId, postId: In(postIds) };
    await entities(tx).update(PostLike, where, { createdAt: unchanged('created_at') });
    const likes = await entities(tx).find(PostLike, { select: { postId: true }, where });
    await entities(tx).delete(PostLike, where);
    await this.posts.uncountLikes(
      tx,
      likes.map(({ postId }) => postId),
    );
    return likes.length;
  }
}

/** A person's posts, in two parts: each has the order of its ids in the index. */
export function postsOf(userId: string): FindOptionsWhere<Post>[] {
  return [
    { userId, deletedAt: IsNull() },
    { userId, deletedAt: Not(IsNull()) },
  ];
}
