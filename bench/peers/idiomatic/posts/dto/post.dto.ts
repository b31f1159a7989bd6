import { Exclude, Expose } from 'class-transformer';
import { permalinkOf } from '../../settings.js';
import type { Post } from '../post.entity.js';

/** A post in a list. */
@Exclude()
export class PostItemDto {
  @Expose()
  id: string;

  @Expose()
  content: string | null;

  @Expose()
  createdAt: Date;

  @Expose()
  get permalink(): string {
    return permalinkOf(this.id);
  }

  constructor({ id, content, createdAt }: Post) {
    Object.assign(this, { id, content, createdAt });
  }
}

/** A single post. */
@Exclude()
export class PostDto extends PostItemDto {
  @Expose()
  tags: string[];

  @Expose()
  reachKm: number | null;

  @Expose()
  visibility: string;

  constructor(post: Post) {
    super(post);
    const { tags, reachKm, visibility } = post;
    Object.assign(this, { tags, reachKm, visibility });
  }
}

/** The fields that were sent for a new post, and those that the server added. */
export interface CreatedPost extends Partial<Omit<Post, 'id' | 'createdAt'>> {
  id: string;
  permalink: string;
  createdAt: Date;
}
