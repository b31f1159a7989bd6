import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import {
  COUNTER,
  FLAG,
  ID,
  INTEGER,
  optional,
  text,
  TIME,
} from '../../platform/database/columns.js';

/** An app's arrangement with the operator. An app without one has the default limit. */
@Entity('app_quotas')
export class AppQuota {
  @PrimaryColumn(ID)
  clientId: string;

  /** Name of a configured plan, or `custom`. */
  @Column(text(32))
  plan: string;

  /** Posts per calendar month; null is unlimited. Of a plan: what it gave when it was arranged. */
  @Column(optional(INTEGER))
  monthlyPostLimit: number | null;
}

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

  /** Plan and limit (null is unlimited) at the month's end, once the month is closed. */
  @Column(optional(text(32)))
  closedPlan: string | null;

  @Column(optional(INTEGER))
  closedLimit: number | null;

  @Column(optional(TIME))
  closedAt: Date | null;
}

/** One recorded developer API call (source document, section 8). Rows are only ever added. */
@Entity('api_calls')
@Index('ix_api_calls_user_id', ['userId', 'at'])
export class ApiCall {
  @PrimaryColumn(TIME)
  at: Date;

  @PrimaryColumn(ID)
  id: string;

  @Column(ID)
  clientId: string;

  /** Null once the user is erased. */
  @Column(optional(ID))
  userId: string | null;

  /** Method and route pattern, such as `POST /dev/v1/posts`. */
  @Column(text(100))
  route: string;

  /** Of the answer; 499 when the client left before it. */
  @Column({ type: 'smallint' })
  status: number;

  @Column(INTEGER)
  durationMs: number;

  @Column(text(64))
  requestId: string;

  /** Whether it cost one of the month's posts. The answer of a publish that is only told again did not. */
  @Column(FLAG)
  metered: boolean;
}

/** The call log added up: calls of one app to one route with one status on one UTC day. */
@Entity('api_usage_daily')
export class ApiUsageDaily {
  /** Such as `2026-11-21`. */
  @PrimaryColumn(text(10))
  day: string;

  @PrimaryColumn(ID)
  clientId: string;

  @PrimaryColumn(text(100))
  route: string;

  @PrimaryColumn({ type: 'smallint' })
  status: number;

  @Column(COUNTER)
  calls: number;
}
