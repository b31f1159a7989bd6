import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, type SelectQueryBuilder } from 'typeorm';
import { HOUR, addMilliseconds, floorTo } from '../../../platform/clock.js';
import {
  expiredLogRows,
  type DeletableRows,
  firstTimeIn,
  type TimeRange,
  inTimeRange,
} from '../../../platform/database/retention/deletion-queries.js';
import { insertAll, readQuery, upsertAll } from '../../../platform/database/sql.js';
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

  /** Returns the time of the first call in the time range, or null if there is none. */
  findFirstCallTime(span: TimeRange): Promise<Date | null> {
    return firstTimeIn(this.dataSource, ApiCall, span);
  }

  /**
   * The hours of the time range that contain calls, oldest first. A statement for one hour stays below the query timeout,
   * however long the log is. Yields to the event loop between hours, because the SQLite driver blocks the process.
   */
  async *hoursWithCalls({ from, to }: TimeRange): AsyncGenerator<TimeRange> {
    let firstCallAt = await this.findFirstCallTime({ from, to });
    while (firstCallAt) {
      const hour = floorTo(firstCallAt, HOUR);
      const next = addMilliseconds(hour, HOUR);
      yield { from: hour < from ? from : hour, to: next > to ? to : next };
      await nextTurn();
      firstCallAt = await this.findFirstCallTime({ from: next, to });
    }
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

  callsBefore(time: Date): DeletableRows {
    return expiredLogRows(this.dataSource, ApiCall, time);
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
