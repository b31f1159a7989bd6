import { Injectable } from '@nestjs/common';
import { PostsService } from '../posts/posts.service.js';

/** How a post is doing (source document, section 2). */
export interface PostAnalytics {
  id: string;
  likes: number;
  comments: number;
  publishedAt: Date;
  permalink: string;
}

/** Numbers about a user's own posts. They come from counters in the post's row: reading them costs the same for any post. */
@Injectable()
export class AnalyticsService {
  constructor(private readonly posts: PostsService) {}

  /** @throws PostNotFound */
  async ofPost(userId: string, id: string): Promise<PostAnalytics> {
    const { likeCount, commentCount, createdAt } = await this.posts.counts(userId, id);
    return {
      id,
      likes: likeCount,
      comments: commentCount,
      publishedAt: createdAt,
      permalink: this.posts.permalink(id),
    };
  }
}
