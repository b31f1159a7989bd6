import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNTER, ID, INTEGER, optional, text, TIME } from '../../platform/database/columns.js';

/** The plan assigned to an app. An app without a row has the default limit. */
@Entity('app_quotas')
export class AppQuota {
  @PrimaryColumn(ID)
  clientId: string;

  /** Name of a configured plan, or `custom`. */
  @Column(text(32))
  plan: string;

  /** Posts per calendar month; null means unlimited. For a configured plan, the limit that the plan had when it was assigned. */
  @Column(optional(INTEGER))
  monthlyPostLimit: number | null;
}

/** Number of posts that an app published in a calendar month. The month is part of the key, so no reset is needed. */
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

  /** Plan and limit (null means unlimited) when the month was closed. Null before. */
  @Column(optional(text(32)))
  closedPlan: string | null;

  @Column(optional(INTEGER))
  closedLimit: number | null;

  @Column(optional(TIME))
  closedAt: Date | null;
}
