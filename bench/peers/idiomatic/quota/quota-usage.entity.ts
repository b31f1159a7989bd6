import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('quota_usage')
export class QuotaUsage {
  @PrimaryColumn({ name: 'client_id', length: 40 })
  clientId: string;

  /** The month in UTC, such as `2026-11`. */
  @PrimaryColumn({ length: 7 })
  period: string;

  @Column()
  used: number;
}
