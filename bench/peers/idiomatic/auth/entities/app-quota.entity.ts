import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('app_quotas')
export class AppQuota {
  @PrimaryColumn({ name: 'client_id', length: 40 })
  clientId: string;

  @Column({ length: 32 })
  plan: string;

  /** Null is unlimited. */
  @Column({ name: 'monthly_post_limit', type: 'int', nullable: true })
  monthlyPostLimit: number | null;
}
