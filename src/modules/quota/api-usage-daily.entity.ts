import { Column, Entity, PrimaryColumn } from 'typeorm';
import { COUNTER, ID, text } from '../../database/columns.js';

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
