import { Injectable } from '@nestjs/common';
import { DataSource, type SelectQueryBuilder } from 'typeorm';
import { insertAll, readQuery, upsertAll } from '../../../platform/database/sql.js';
import {
  inTimeRange,
  partsWithRows,
  type TimeRange,
} from '../../../platform/database/time-range.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { ApiCall, ApiUsageDaily } from './call-log.entities.js';

const TOTALS_PER_STATEMENT = 200;

export type RouteCount = Pick<ApiCall, 'clientId' | 'route' | 'status'> & { calls: number };

/** The call log and the daily totals. */
@Injectable()
export class CallsRepository {
  constructor(private readonly dataSource: DataSource) {}

  insertAll(tx: Transaction, calls: readonly ApiCall[]): Promise<void> {
    return insertAll(tx, ApiCall, calls);
  }

  /** The parts of the time range that contain calls, oldest first. @param unitMs the length of a part, such as `HOUR` */
  partsWithCalls(span: TimeRange, unitMs: number): AsyncGenerator<TimeRange> {
    return partsWithRows(this.dataSource, ApiCall, span, unitMs);
  }

  async countByAppRouteAndStatus(hour: TimeRange): Promise<RouteCount[]> {
    const query = this.inTimeRange(hour)
      .select('call.clientId', 'clientId')
      .addSelect('call.route', 'route')
      .addSelect('call.status', 'status')
      .addSelect('COUNT(*)', 'calls')
      .groupBy('call.clientId')
      .addGroupBy('call.route')
      .addGroupBy('call.status');
    type Row = Omit<RouteCount, 'calls'> & { calls: string | number };
    const rows = await readQuery<Row>(query);
    return rows.map((row) => ({ ...row, calls: Number(row.calls) }));
  }

  /** The number of calls that count against the quota, by client id. */
  async countPublishes(hour: TimeRange): Promise<ReadonlyMap<string, number>> {
    const query = this.inTimeRange(hour)
      .andWhere({ metered: true })
      .select('call.clientId', 'clientId')
      .addSelect('COUNT(*)', 'calls')
      .groupBy('call.clientId');
    const rows = await readQuery<{ clientId: string; calls: string | number }>(query);
    return new Map(rows.map(({ clientId, calls }) => [clientId, Number(calls)]));
  }

  /** The number of an app's calls that count against the quota. */
  countPublishesOf(tx: Transaction, clientId: string, span: TimeRange): Promise<number> {
    return this.inTimeRange(span, entities(tx)).andWhere({ clientId, metered: true }).getCount();
  }

  /** The calls of a request, oldest first. The request id has no index, so only the given time range is searched. */
  findOfRequest(requestId: string, span: TimeRange): Promise<ApiCall[]> {
    return this.inTimeRange(span)
      .andWhere({ requestId })
      .orderBy('call.at')
      .addOrderBy('call.id')
      .getMany();
  }

  /** The newest day with totals, such as `2026-11-21`. */
  async findNewestDay(): Promise<string | null> {
    const newest = await this.dataSource.manager.findOne(ApiUsageDaily, {
      select: { day: true },
      where: {},
      order: { day: 'DESC' },
    });
    return newest?.day ?? null;
  }

  findTotals(day: string): Promise<ApiUsageDaily[]> {
    return this.dataSource.manager.findBy(ApiUsageDaily, { day });
  }

  async saveTotals(tx: Transaction, totals: readonly ApiUsageDaily[]): Promise<void> {
    for (let from = 0; from < totals.length; from += TOTALS_PER_STATEMENT)
      await upsertAll(tx, ApiUsageDaily, totals.slice(from, from + TOTALS_PER_STATEMENT));
  }

  private inTimeRange(
    span: TimeRange,
    manager = this.dataSource.manager,
  ): SelectQueryBuilder<ApiCall> {
    return inTimeRange(manager.createQueryBuilder(ApiCall, 'call'), span);
  }
}
