import { Injectable } from '@nestjs/common';
import type { ExpiredRows } from '../../platform/database/retention/expired-rows.js';
import { PostsPrune } from '../posts/posts-retention.js';
import { DeletedCommentsRepository } from './deleted-comments.repository.js';

/** The comments that are kept no longer: as long as a deleted post, and never longer than their post. */
@Injectable()
export class CommentsPrune {
  constructor(
    private readonly repository: DeletedCommentsRepository,
    private readonly posts: PostsPrune,
  ) {}

  deleted(now: Date): ExpiredRows {
    return this.repository.deleted(this.posts.goneUntil(now));
  }

  /** The comments on posts that are gone, except those of `deleted`. */
  onPosts(postIds: readonly string[], now: Date): ExpiredRows {
    return this.repository.onPosts(postIds, this.posts.goneUntil(now));
  }
}
