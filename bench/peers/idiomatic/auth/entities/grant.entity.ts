import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { User } from '../../users/user.entity.js';
import { App } from './app.entity.js';

@Entity('grants')
export class Grant {
  @PrimaryColumn({ length: 40 })
  id: string;

  @ManyToOne(() => User, { nullable: false })
  @JoinColumn({ name: 'user_id' })
  user: User;

  @ManyToOne(() => App, { nullable: false })
  @JoinColumn({ name: 'client_id' })
  app: App;

  @Column({ length: 255 })
  scope: string;

  @Column({ name: 'requested_scope', length: 255 })
  requestedScope: string;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt: Date;

  @Column({ name: 'expires_at', type: 'datetime', precision: 3 })
  expiresAt: Date;

  @Column({ name: 'revoked_at', type: 'datetime', precision: 3, nullable: true })
  revokedAt: Date | null;

  @Column({ name: 'last_used_at', type: 'datetime', precision: 3, nullable: true })
  lastUsedAt: Date | null;
}
