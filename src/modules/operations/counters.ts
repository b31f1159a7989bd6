import type { CounterCache } from '../../platform/database/counter-cache.js';
import { Comment } from '../comments/comment.entity.js';
import { Post, PostLike } from '../posts/post.entities.js';
import { User } from '../users/user.entity.js';

/** The counter caches of all modules, which their repositories update. */
export const COUNTERS: readonly CounterCache[] = [
  {
    entity: User,
    column: 'postCount',
    counted: Post,
    joinOn: 'counted.userId = owner.id',
    countsIf: 'counted.deletedAt IS NULL',
  },
  { entity: Post, column: 'likeCount', counted: PostLike, joinOn: 'counted.postId = owner.id' },
  {
    entity: Post,
    column: 'commentCount',
    counted: Comment,
    joinOn: 'counted.postId = owner.id',
    countsIf: 'counted.deletedAt IS NULL',
  },
];
