import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, optional, TEXT, TIME } from '../../platform/database/columns.js';

/** A comment on a post (product requirements, section 2). */
@Entity('comments')
@Index('ix_comments_post_id', ['postId', 'deletedAt', 'id'])
@Index('ix_comments_deleted_at', ['deletedAt'])
@Index('ix_comments_user_id', ['userId', 'id'])
export class Comment {
  @PrimaryColumn(ID)
  id: string;

  @Column(ID)
  postId: string;

  @Column(ID)
  userId: string;

  /** The parent comment, on the same post. */
  @Column(optional(ID))
  parentId: string | null;

  /** The app that added the comment; null for comments of the network itself, and of 1.1. */
  @Column(optional(ID))
  clientId: string | null;

  @Column(TEXT)
  text: string;

  @Column(TIME)
  createdAt: Date;

  @Column(optional(TIME))
  deletedAt: Date | null;
}
