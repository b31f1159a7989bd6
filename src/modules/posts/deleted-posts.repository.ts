import { Injectable } from '@nestjs/common';
import { DataSource, In, LessThanOrEqual } from 'typeorm';
import { foundRows, type ExpiredRows } from '../../platform/database/retention/expired-rows.js';
import { Post, PostLike } from './post.entities.js';

/** Posts that were deleted, and what hangs on them. */
@Injectable()
export class DeletedPostsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The ids of those deleted until `moment`, by the time of it and at most `size` at once. */
  async *idsUntil(moment: Date, size: number): AsyncGenerator<string[]> {
    let found = await this.findAfter(null, moment, size);
    while (found.length > 0) {
      yield found.map(({ id }) => id);
      if (found.length < size) return;
      found = await this.findAfter(found.at(-1) ?? null, moment, size);
    }
  }

  /** The posts with these ids, as long as they were deleted until `moment`. */
  posts(ids: readonly string[], moment: Date): ExpiredRows {
    const deletedAt = LessThanOrEqual(moment);
    return foundRows(this.dataSource, Post, (query) => query.where({ id: In(ids), deletedAt }), {
      deletedAt,
    });
  }

  likes(ids: readonly string[]): ExpiredRows {
    return foundRows(this.dataSource, PostLike, (query) => query.where({ postId: In(ids) }));
  }

  private findAfter(last: Post | null, moment: Date, size: number): Promise<Post[]> {
    const query = this.dataSource.manager
      .createQueryBuilder(Post, 'post')
      .select(['post.id', 'post.deletedAt'])
      .where('post.deletedAt <= :moment', { moment })
      .orderBy('post.deletedAt')
      .addOrderBy('post.id')
      .limit(size);
    if (last)
      query.andWhere(
        'post.deletedAt >= :deletedAt AND (post.deletedAt > :deletedAt OR post.id > :id)',
        last,
      );
    return query.getMany();
  }
}
