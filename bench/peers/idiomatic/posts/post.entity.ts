import { Column, DeleteDateColumn, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { App } from '../auth/entities/app.entity.js';
import { User } from '../users/user.entity.js';

@Entity('posts')
export class Post {
  @PrimaryColumn({ length: 40 })
  id: string;

  @Column({ name: 'user_id', length: 40 })
  userId: string;

  @ManyToOne(() => User, { nullable: false })
  @JoinColumn({ name: 'user_id' })
  user: User;

  @Column({ name: 'client_id', type: 'varchar', length: 40, nullable: true })
  clientId: string | null;

  @ManyToOne(() => App)
  @JoinColumn({ name: 'client_id' })
  app: App | null;

  @Column({ type: 'varchar', length: 300, nullable: true })
  title: string | null;

  @Column({ type: 'text', nullable: true })
  content: string | null;

  @Column({ length: 32 })
  type: string;

  @Column({ type: 'simple-json' })
  images: string[];

  @Column({ type: 'simple-json' })
  tags: string[];

  @Column({ type: 'double', nullable: true })
  latitude: number | null;

  @Column({ type: 'double', nullable: true })
  longitude: number | null;

  @Column({ type: 'varchar', length: 200, nullable: true })
  neighborhood: string | null;

  @Column({ name: 'reach_km', type: 'double', nullable: true })
  reachKm: number | null;

  @Column({ length: 16 })
  visibility: string;

  @Column({ name: 'like_count' })
  likeCount: number;

  @Column({ name: 'comment_count' })
  commentCount: number;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt: Date;

  @DeleteDateColumn({ name: 'deleted_at', type: 'datetime', precision: 3 })
  deletedAt: Date | null;
}
