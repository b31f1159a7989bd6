import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, type SelectQueryBuilder } from 'typeorm';
import { HOUR, later, startOf } from '../../../platform/clock.js';
import {
  expiredLogRows,
  type ExpiredRows,
  firstWithin,
  type Span,
  within,
} from '../../../platform/database/retention/expired-rows.js';
import { insertAll } from '../../../platform/database/sql.js';
import { entities, type Transaction } from '../../../platform/database/transaction.js';
import { ApiCall } from '../quota.entities.js';

/** How many calls of one app to one route had one status. */
export type RouteCount = Pick<ApiCall, 'clientId' | 'route' | 'status'> & { calls: number };

@Injectable()
export class CallsRepository {
  constructor(private readonly dataSource: DataSource) {}

  insertAll(tx: Transaction, calls: readonly ApiCall[]): Promise<void> {
    return insertAll(tx, ApiCall, calls);
  }

  /** When the first call within `span` was made; null when none was. */
  findFirst(span: Span): Promise<Date | null> {
    return firstWithin(this.dataSource, ApiCall, span);
  }

  /**
   * The hours within `span` that hold calls, oldest first: a statement about one of them ends in time, however long the log
   * is. Requests come in between, also on SQLite, whose driver makes the process wait.
   */
  async *hours({ from, to }: Span): AsyncGenerator<Span> {
    let first = await this.findFirst({ from, to });
    while (first) {
      const hour = startOf(first, HOUR);
      const next = later(hour, HOUR);
      yield { from: hour < from ? from : hour, to: next > to ? to : next };
      await nextTurn();
      first = await this.findFirst({ from: next, to });
    }
  }

  async countByRoute(hour: Span): Promise<RouteCount[]> {
    const rows = await this.within(hour)
      .select('call.clientId', 'clientId')
      .addSelect('call.route', 'route')
      .addSelect('call.status', 'status')
      .addSelect('COUNT(*)', 'calls')
      .groupBy('call.clientId')
      .addGroupBy('call.route')
      .addGroupBy('call.status')
      .getRawMany<Omit<RouteCount, 'calls'> & { calls: string | number }>();
    return rows.map((row) => ({ ...row, calls: Number(row.calls) }));
  }

  /** How many calls cost each app one of its posts, by client id. */
  async countMetered(hour: Span): Promise<ReadonlyMap<string, number>> {
    const rows = await this.within(hour)
      .andWhere({ metered: true })
      .select('call.clientId', 'clientId')
      .addSelect('COUNT(*)', 'calls')
      .groupBy('call.clientId')
      .getRawMany<{ clientId: string; calls: string | number }>();
    return new Map(rows.map(({ clientId, calls }) => [clientId, Number(calls)]));
  }

  /** The same of one app, as the transaction sees it. */
  countMeteredOf(tx: Transaction, clientId: string, span: Span): Promise<number> {
    return this.within(span, entities(tx)).andWhere({ clientId, metered: true }).getCount();
  }

  /** The calls before a moment. */
  before(moment: Date): ExpiredRows {
    return expiredLogRows(this.dataSource, ApiCall, moment);
  }

  private within(span: Span, manager = this.dataSource.manager): SelectQueryBuilder<ApiCall> {
    return within(manager.createQueryBuilder(ApiCall, 'call'), span);
  }
}
