import { Comment } from '../../../src/modules/comments/comment.entity.js';
import { Post } from '../../../src/modules/posts/post.entity.js';
import { QuotaUsage } from '../../../src/modules/quota/quota-usage.entity.js';
import { User } from '../../../src/modules/users/user.entity.js';
import type { Member } from './member.js';

/** What a member and their app have left in the database so far: refusals must not change it. */
export interface Footprint {
  posts: number;
  comments: number;
  /** The member's own counter. */
  counted: number;
  /** Comments counted on the member's posts. */
  commented: number;
  /** Quota that the app has spent. */
  spent: number;
}

export async function footprintOf({ app, user, client }: Member): Promise<Footprint> {
  const { manager } = app.dataSource;
  const { id: userId } = user;
  return {
    posts: await manager.countBy(Post, { userId }),
    comments: await manager.countBy(Comment, { userId }),
    counted: (await manager.findOneByOrFail(User, { id: userId })).postCount,
    commented: Number(await manager.sum(Post, 'commentCount', { userId })),
    spent: Number(await manager.sum(QuotaUsage, 'used', { clientId: client.clientId })),
  };
}

/** A member with one post and one comment on it, whose requests are all refused, and what that leaves. */
export const UNTOUCHED: Footprint = { posts: 1, comments: 1, counted: 1, commented: 1, spent: 1 };
