import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import {
  COUNTER,
  FLAG,
  ID,
  INTEGER,
  optional,
  text,
  TIME,
} from '../../../platform/database/columns.js';

/** A developer API call (product requirements, section 8). The log is append-only. */
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
}
