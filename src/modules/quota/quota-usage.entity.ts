import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNTER, ID, INTEGER, optional, text, TIME } from '../../database/columns.js';

/** Posts that an app published in a calendar month. The month is in the key, so a new one starts at zero by itself. */
@Entity('quota_usage')
@Index('ix_quota_usage_period', ['period'])
export class QuotaUsage {
  @PrimaryColumn(ID)
  clientId: string;

  /** Such as `2026-11`. */
  @PrimaryColumn(text(7))
  period: string;

  @Column(COUNTER)
  used: number;

  /** The highest percentage of the limit that was told to operators: 0, 75, 90 or 100. */
  @Column({ type: 'smallint', default: 0 })
  alerted: number;

  /** Plan and limit (null is unlimited) at the month's end, once the month is closed. */
  @Column(optional(text(32)))
  closedPlan: string | null;

  @Column(optional(INTEGER))
  closedLimit: number | null;

  @Column(optional(TIME))
  closedAt: Date | null;
}
