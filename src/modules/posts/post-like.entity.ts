import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, TIME } from '../../database/columns.js';

/** One user's like of one post. The network writes these; `posts.like_count` is their number. */
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
