import { Column, Entity, JoinColumn, OneToOne, PrimaryColumn } from 'typeorm';
import { AppQuota } from './app-quota.entity.js';

@Entity('apps')
export class App {
  @PrimaryColumn({ name: 'client_id', length: 40 })
  clientId: string;

  @Column({ length: 200 })
  name: string;

  @Column({ length: 16 })
  kind: 'public' | 'confidential';

  @Column({ length: 255 })
  scope: string;

  @Column({ length: 16 })
  status: 'enabled' | 'disabled';

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt: Date;

  /** Null for the default limit. */
  @OneToOne(() => AppQuota)
  @JoinColumn({ name: 'client_id' })
  quota: AppQuota | null;
}
