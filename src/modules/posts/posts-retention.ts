import { Injectable } from '@nestjs/common';
import { DAY, later, MINUTE } from '../../platform/clock.js';
import { AppConfig } from '../../platform/config/app-config.js';
import type { ExpiredRows } from '../../platform/database/retention/expired-rows.js';
import { DeletedPostsRepository } from './deleted-posts.repository.js';

/** Longer than the clocks of two processes may differ: while one of them may still restore a post, no other one deletes it. */
const MARGIN_MS = MINUTE;

/** Few enough for one statement about what hangs on them. */
const POSTS_AT_ONCE = 1000;

/** The deleted posts that are kept no longer. */
@Injectable()
export class PostsPrune {
  constructor(
    private readonly repository: DeletedPostsRepository,
    private readonly config: AppConfig,
  ) {}

  /** What was deleted until this moment is gone for good. */
  goneUntil(now: Date): Date {
    return later(now, -this.config.retention.deletedPosts * DAY - MARGIN_MS);
  }

  /** The ids of the posts that are gone, some at a time. What hangs on them goes before them. */
  gone(now: Date): AsyncIterable<string[]> {
    return this.repository.idsUntil(this.goneUntil(now), POSTS_AT_ONCE);
  }

  /** These posts and their likes, in the order in which they go. */
  expired(ids: readonly string[], now: Date): ExpiredRows[] {
    return [this.repository.likes(ids), this.repository.posts(ids, this.goneUntil(now))];
  }
}
