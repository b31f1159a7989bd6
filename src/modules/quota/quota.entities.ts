import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import {
  COUNTER,
  ID,
  INTEGER,
  optional,
  text,
  TIME,
  FLAG,
  JSON_TEXT,
} from '../../platform/database/columns.js';

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

  /** The highest percentage of the quota of which the app was told by an event. Null if none. */
  @Column(optional(INTEGER))
  notifiedPercent: number | null;

  /** Plan and limit (null means unlimited) when the month was closed. Null before. */
  @Column(optional(text(32)))
  closedPlan: string | null;

  @Column(optional(INTEGER))
  closedLimit: number | null;

  @Column(optional(TIME))
  closedAt: Date | null;
}

/** A developer API call (product requirements, section 8). The log is append-only. */
@Entity('api_calls')
@Index('ix_api_calls_user_id', ['userId', 'at'])
@Index('ix_api_calls_client_id', ['clientId', 'at'])
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

  /** HTTP status; 499 if the client disconnected before the response. */
  @Column({ type: 'smallint' })
  status: number;

  @Column(INTEGER)
  durationMs: number;

  @Column(text(64))
  requestId: string;

  /** Whether the call counts against the quota. A replayed publish does not. */
  @Column(FLAG)
  metered: boolean;

  /** The code of the error response, such as `quota_exceeded`. Null without an error, and for calls that 1.1 recorded. */
  @Column(optional(text(64)))
  errorCode: string | null;
}

/** Number of calls by UTC day, app, route and status. */
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

  /** The number of calls by error code; null if none has one. Not a part of the key, because 1.1 writes rows without it. */
  @Column(optional(JSON_TEXT))
  errors: Record<string, number> | null;
}
