import { Column, DeleteDateColumn, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { Post } from '../posts/post.entity.js';
import { User } from '../users/user.entity.js';

@Entity('comments')
export class Comment {
  @PrimaryColumn({ length: 40 })
  id: string;

  @Column({ name: 'post_id', length: 40 })
  postId: string;

  @ManyToOne(() => Post, { nullable: false })
  @JoinColumn({ name: 'post_id' })
  post: Post;

  @ManyToOne(() => User, { nullable: false })
  @JoinColumn({ name: 'user_id' })
  author: User;

  @Column({ name: 'parent_id', type: 'varchar', length: 40, nullable: true })
  parentId: string | null;

  @Column({ type: 'text' })
  text: string;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt: Date;

  @DeleteDateColumn({ name: 'deleted_at', type: 'datetime', precision: 3 })
  deletedAt: Date | null;
}
