import { Column, Entity, PrimaryColumn } from 'typeorm';
import { COUNTER, ID, text } from '../../database/columns.js';

/** Posts that an app published in a calendar month. The month is in the key, so a new one starts at zero by itself. */
@Entity('quota_usage')
export class QuotaUsage {
  @PrimaryColumn(ID)
  clientId: string;

  /** Such as `2026-11`. */
  @PrimaryColumn(text(7))
  period: string;

  @Column(COUNTER)
  used: number;
}
