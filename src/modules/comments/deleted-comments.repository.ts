import { Injectable } from '@nestjs/common';
import { DataSource, In, IsNull, LessThanOrEqual, MoreThan, Or } from 'typeorm';
import {
  expiredRows,
  foundRows,
  type ExpiredRows,
} from '../../platform/database/retention/expired-rows.js';
import { Comment } from './comment.entity.js';

@Injectable()
export class DeletedCommentsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The comments that were deleted until `moment`. */
  deleted(moment: Date): ExpiredRows {
    const where = { deletedAt: LessThanOrEqual(moment) };
    return expiredRows(this.dataSource, Comment, where, 'deletedAt');
  }

  /** All other comments on these posts. */
  onPosts(postIds: readonly string[], moment: Date): ExpiredRows {
    const deletedAt = Or(IsNull(), MoreThan(moment));
    return foundRows(this.dataSource, Comment, (query) =>
      query.where({ postId: In(postIds), deletedAt }),
    );
  }
}
