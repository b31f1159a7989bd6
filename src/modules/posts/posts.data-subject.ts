import { Injectable } from '@nestjs/common';
import { DataSource, In, IsNull, Not, type FindOptionsWhere } from 'typeorm';
import {
  childRows,
  expiredRows,
  type ExpiredRows,
} from '../../platform/database/retention/expired-rows.js';
import {
  PersonalData,
  personalRows,
  type Person,
  type PersonalRows,
} from '../../platform/database/retention/data-subject.js';
import { deleteReturning } from '../../platform/database/sql.js';
import { Post, PostLike } from './post.entities.js';
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
      delete: async (tx, keys) => {
        const postId = In(keys.map((key) => key.postId as string));
        const likes = await deleteReturning(tx, PostLike, { userId, postId }, { postId: true });
        await this.posts.uncountLikes(
          tx,
          likes.map((like) => like.postId),
        );
        return likes.length;
      },
    };
  }
}

/** A person's posts, in two parts: each has the order of its ids in the index. */
export function postsOf(userId: string): FindOptionsWhere<Post>[] {
  return [
    { userId, deletedAt: IsNull() },
    { userId, deletedAt: Not(IsNull()) },
  ];
}
