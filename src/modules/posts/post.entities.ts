import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import {
  COUNTER,
  DOUBLE,
  ID,
  JSON_TEXT,
  optional,
  TEXT,
  text,
  TIME,
} from '../../platform/database/columns.js';

export const VISIBILITIES = ['public', 'neighborhood', 'private'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/** A post (product requirements, section 2). Soft-deleted by `deletedAt`. */
@Entity('posts')
@Index('ix_posts_user_id', ['userId', 'deletedAt', 'id'])
@Index('ix_posts_deleted_at', ['deletedAt'])
export class Post {
  @PrimaryColumn(ID)
  id: string;

  @Column(ID)
  userId: string;

  /** The app that published the post; null if it was published in the network itself. */
  @Column(optional(ID))
  clientId: string | null;

  @Column(optional(text(300)))
  title: string | null;

  @Column(optional(TEXT))
  content: string | null;

  @Column(text(32))
  type: string;

  @Column(JSON_TEXT)
  images: string[];

  @Column(JSON_TEXT)
  tags: string[];

  @Column(optional(DOUBLE))
  latitude: number | null;

  @Column(optional(DOUBLE))
  longitude: number | null;

  /** Copied from the user if the post has no location of its own. */
  @Column(optional(text(200)))
  neighborhood: string | null;

  @Column(optional(DOUBLE))
  reachKm: number | null;

  @Column(text(16))
  visibility: Visibility;

  @Column(COUNTER)
  likeCount: number;

  @Column(COUNTER)
  commentCount: number;

  @Column(TIME)
  createdAt: Date;

  @Column(optional(TIME))
  deletedAt: Date | null;
}

/** A user's like of a post. Users like posts in the network itself, not through apps. `posts.like_count` caches the number of likes. */
@Entity('post_likes')
@Index('ix_post_likes_user_id', ['userId', 'postId'])
export class PostLike {
  @PrimaryColumn(ID)
  postId: string;

  @PrimaryColumn(ID)
  userId: string;

  @Column(TIME)
  createdAt: Date;
}
