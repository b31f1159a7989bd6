import { Injectable } from '@nestjs/common';
import { DataSource, In, IsNull, Not, type FindOptionsWhere } from 'typeorm';
import {
  childRows,
  deletableRows,
  type DeletableRows,
} from '../../platform/database/retention/deletion-queries.js';
import {
  personalRows,
  type Person,
  type PersonalData,
  type PersonalRows,
} from '../../platform/database/retention/data-subject.js';
import { deleteReturning } from '../../platform/database/sql.js';
import { entities } from '../../platform/database/transaction.js';
import { Post, PostLike } from './post.entities.js';

/** Posts, including soft-deleted ones, and likes. */
@Injectable()
export class PostsPersonalData implements PersonalData {
  constructor(private readonly dataSource: DataSource) {}

  rowsToExport({ userId }: Person): PersonalRows[] {
    return [
      personalRows(this.dataSource, Post, { wheres: postsOf(userId) }),
      personalRows(this.dataSource, PostLike, { wheres: [{ userId }], omit: ['userId'] }),
    ];
  }

  rowsToErase({ userId }: Person): DeletableRows[] {
    return [
      childRows(this.dataSource, {
        parent: Post,
        wheres: postsOf(userId),
        child: PostLike,
        foreignKey: 'postId',
      }),
      this.likesBy(userId),
      deletableRows(this.dataSource, Post, { where: { userId }, indexColumn: 'userId' }),
    ];
  }

  /** The likes that the user gave. Deleting one decrements the like count of its post. */
  private likesBy(userId: string): DeletableRows {
    return {
      ...deletableRows(this.dataSource, PostLike, { where: { userId }, indexColumn: 'userId' }),
      delete: async (tx, keys) => {
        const postId = In(keys.map((key) => key.postId as string));
        const likes = await deleteReturning(tx, PostLike, { userId, postId }, { postId: true });
        const id = In(likes.map((like) => like.postId));
        if (likes.length > 0) await entities(tx).decrement(Post, { id }, 'likeCount', 1);
        return likes.length;
      },
    };
  }
}

/** A user's posts. Two conditions, because the index is sorted by id within each of them. */
export function postsOf(userId: string): FindOptionsWhere<Post>[] {
  return [
    { userId, deletedAt: IsNull() },
    { userId, deletedAt: Not(IsNull()) },
  ];
}
