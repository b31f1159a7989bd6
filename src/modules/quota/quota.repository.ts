import { Injectable } from '@nestjs/common';
import {
  Between,
  DataSource,
  In,
  IsNull,
  LessThan,
  Like,
  Not,
  type SelectQueryBuilder,
} from 'typeorm';
import {
  insertAll,
  insertMissing,
  readQuery,
  unchanged,
  upsert,
  upsertAll,
  writeRows,
} from '../../platform/database/sql.js';
import { BatchLoader } from '../../platform/database/batch-loader.js';
import {
  inTimeRange,
  newestRows,
  partsWithRows,
  rowsOfRequest,
  type TimeRange,
} from '../../platform/database/rows-in-pages.js';
import { entities, type Transaction } from '../../platform/database/transaction.js';
import { ApiCall, ApiUsageDaily, AppQuota, QuotaUsage } from './quota.entities.js';
import { postsAt, QUOTA_THRESHOLDS } from '../events/event-types.js';
import { TEST_APP_PREFIX, timeOf } from '../../platform/ids.js';
import { addMilliseconds } from '../../platform/clock.js';
import type { ListPaging } from '../../platform/database/list-page.js';
import { dayOf, type Period } from './quota-period.js';

const INCREMENT = 'UPDATE quota_usage SET used = used + ? WHERE client_id = ? AND period = ?';
const INCREMENT_WITHIN_LIMIT = `${INCREMENT} AND used <= ?`;
/** The parameters are the posts below which no threshold is reached: by the last one of which the app was told, and before the first. */
const INCREMENT_BELOW_THRESHOLD = `${INCREMENT} AND used < CASE notified_percent ${QUOTA_THRESHOLDS.map((percent) => `WHEN ${percent} THEN ?`).join(' ')} ELSE ? END`;
const FIND_USED = 'SELECT client_id AS clientId, period, used FROM quota_usage WHERE';

const TOTALS_PER_STATEMENT = 200;

/** Matches the client ids of test apps only, although `_` matches any character: no other id has these letters in this place. */
const TEST_APPS = `${TEST_APP_PREFIX}%`;

export type RouteCount = Pick<ApiCall, 'clientId' | 'route' | 'status' | 'errorCode'> & {
  calls: number;
};

/** A call must match all given members. */
export interface CallSearch {
  range: TimeRange;
  clientId?: string;
  userId?: string;
  /** The lowest and the highest status. */
  statuses?: readonly [number, number];
  errorCode?: string;
  requestId?: string;
  /** Any of these, such as `POST /dev/v1/posts`. */
  routes?: readonly string[];
  /** None of these. */
  exceptRoutes?: readonly string[];
}

/** What the daily totals can be grouped by. */
export type UsageGroup = 'app' | 'day' | 'route' | 'status' | 'error';

const USAGE_COLUMNS = { app: 'clientId', day: 'day', route: 'route', status: 'status' } as const;

export interface UsageTotal {
  group: string | number;
  calls: number;
}

/** The assigned plans, the monthly usage, the call log and its daily totals. */
@Injectable()
export class QuotaRepository {
  private readonly usages: BatchLoader<Pick<QuotaUsage, 'used'>>;

  constructor(private readonly dataSource: DataSource) {
    this.usages = new BatchLoader(dataSource, FIND_USED, {
      clientId: 'client_id',
      period: 'period',
    });
  }

  /**
   * Adds posts to the app's counter of the period in one statement, unless it would exceed the limit (null means unlimited).
   * @returns false if it would, or if the counter has no row
   */
  async consume(
    tx: Transaction,
    clientId: string,
    period: Period,
    limit: number | null,
    posts: number,
  ): Promise<boolean> {
    const affected =
      limit === null
        ? await writeRows(tx, INCREMENT, [posts, clientId, period])
        : await writeRows(tx, INCREMENT_WITHIN_LIMIT, [posts, clientId, period, limit - posts]);
    return affected === 1;
  }

  /** Like `consume`, but also returns false, and adds nothing, if the app reaches a threshold of which it was not told. */
  async consumeBelowThreshold(
    tx: Transaction,
    clientId: string,
    period: Period,
    limit: number,
    posts: number,
  ): Promise<boolean> {
    const [first = 0, ...later] = QUOTA_THRESHOLDS.map((percent) => postsAt(limit, percent));
    const next = [...later, limit + 1, first].map((reached) => reached - posts);
    const values = [posts, clientId, period, ...next];
    return (await writeRows(tx, INCREMENT_BELOW_THRESHOLD, values)) === 1;
  }

  hasPeriod(tx: Transaction, clientId: string, period: Period): Promise<boolean> {
    return entities(tx).existsBy(QuotaUsage, { clientId, period });
  }

  /** Inserts the app's counter of the period, at 0, unless it exists. */
  async insertPeriod(tx: Transaction, clientId: string, period: Period): Promise<void> {
    await insertMissing(tx, QuotaUsage, [{ clientId, period, used: 0 }]);
  }

  async findUsed(clientId: string, period: Period): Promise<number> {
    return (await this.usages.find(clientId, period))?.used ?? 0;
  }

  /** The usage of every app that published in the period, by client id. */
  async findUsage(period: Period): Promise<ReadonlyMap<string, QuotaUsage>> {
    const rows = await this.dataSource.manager.find(QuotaUsage, {
      where: { period },
      order: { clientId: 'ASC' },
    });
    return new Map(rows.map((row) => [row.clientId, row]));
  }

  async sumUsage(period: Period): Promise<{ apps: number; posts: number }> {
    const query = this.dataSource.manager
      .createQueryBuilder(QuotaUsage, 'usage')
      .select('COUNT(*)', 'apps')
      .addSelect('SUM(usage.used)', 'posts')
      .where({ period });
    type Row = { apps: string | number; posts: string | number | null };
    const [row] = await readQuery<Row>(query);
    return { apps: Number(row?.apps ?? 0), posts: Number(row?.posts ?? 0) };
  }

  /**
   * Locks the app's counter until the transaction ends, so that publishes wait. Uses an UPDATE without effect, because SQLite has
   * no row locks.
   * @returns the counter, or null if it has no row
   */
  async lockUsed(tx: Transaction, clientId: string, period: Period): Promise<number | null> {
    const key = { clientId, period };
    const { affected } = await entities(tx).update(QuotaUsage, key, { used: unchanged('used') });
    if (affected !== 1) return null;
    const { used } = await entities(tx).findOneByOrFail(QuotaUsage, key);
    return used;
  }

  async setUsed(tx: Transaction, clientId: string, period: Period, used: number): Promise<void> {
    await entities(tx).update(QuotaUsage, { clientId, period }, { used });
  }

  /** The months before `period` that have unclosed rows, oldest first. */
  async findUnclosedPeriods(period: Period): Promise<Period[]> {
    const query = this.dataSource.manager
      .createQueryBuilder(QuotaUsage, 'usage')
      .select('usage.period', 'period')
      .where({ period: LessThan(period), closedAt: IsNull() })
      .groupBy('usage.period');
    const rows = await readQuery<{ period: Period }>(query);
    return rows.map((row) => row.period).toSorted();
  }

  /** At most `limit` ids of apps whose month is not closed. */
  async findUnclosedClientIds(period: Period, limit: number): Promise<string[]> {
    const rows = await this.dataSource.manager.find(QuotaUsage, {
      select: { clientId: true, period: true },
      where: { period, closedAt: IsNull() },
      order: { clientId: 'ASC' },
      take: limit,
    });
    return rows.map(({ clientId }) => clientId);
  }

  /** Closes the month of these apps, except where it is already closed. @returns the number of rows closed */
  async close(
    tx: Transaction,
    period: Period,
    clientIds: readonly string[],
    closed: Pick<QuotaUsage, 'closedPlan' | 'closedLimit' | 'closedAt'>,
  ): Promise<number> {
    const unclosed = { period, clientId: In(clientIds), closedAt: IsNull() };
    const { affected } = await entities(tx).update(QuotaUsage, unclosed, closed);
    return affected ?? 0;
  }

  /** Closes the months of the app before `period` that are not closed. */
  async closeEarlier(
    tx: Transaction,
    clientId: string,
    period: Period,
    closed: Pick<QuotaUsage, 'closedPlan' | 'closedLimit' | 'closedAt'>,
  ): Promise<void> {
    const unclosed = { clientId, period: LessThan(period), closedAt: IsNull() };
    await entities(tx).update(QuotaUsage, unclosed, closed);
  }

  /** The plan assignments of these apps, or of all apps, by client id. */
  async findAssignments(clientIds?: readonly string[]): Promise<ReadonlyMap<string, AppQuota>> {
    const rows = await this.dataSource.manager.find(AppQuota, {
      where: clientIds && { clientId: In(clientIds) },
    });
    return new Map(rows.map((row) => [row.clientId, row]));
  }

  findAssignment(clientId: string, tx?: Transaction): Promise<AppQuota | null> {
    const manager = tx ? entities(tx) : this.dataSource.manager;
    return manager.findOneBy(AppQuota, { clientId });
  }

  /** Locks the app's assignment, if it exists. Write first: on SQLite, a transaction that reads first fails if another process writes in between. */
  async lockAssignment(tx: Transaction, clientId: string): Promise<void> {
    await entities(tx).update(AppQuota, { clientId }, { plan: unchanged('plan') });
  }

  saveAssignment(tx: Transaction, quota: AppQuota): Promise<void> {
    return upsert(tx, AppQuota, quota);
  }

  async removeAssignment(tx: Transaction, clientId: string): Promise<void> {
    await entities(tx).delete(AppQuota, { clientId });
  }

  insertCalls(tx: Transaction, calls: readonly ApiCall[]): Promise<void> {
    return insertAll(tx, ApiCall, calls);
  }

  /** The parts of the time range that contain calls, oldest first. @param unitMs the length of a part, such as `HOUR` */
  partsWithCalls(span: TimeRange, unitMs: number): AsyncGenerator<TimeRange> {
    return partsWithRows(this.dataSource, ApiCall, span, unitMs);
  }

  /** Counts calls by app, route, status and error code. */
  async countCalls(hour: TimeRange): Promise<RouteCount[]> {
    const query = this.inTimeRange(hour)
      .select('call.clientId', 'clientId')
      .addSelect('call.route', 'route')
      .addSelect('call.status', 'status')
      .addSelect('call.errorCode', 'errorCode')
      .addSelect('COUNT(*)', 'calls')
      .groupBy('call.clientId')
      .addGroupBy('call.route')
      .addGroupBy('call.status')
      .addGroupBy('call.errorCode');
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

  findOfRequest(requestId: string, range: TimeRange): Promise<ApiCall[]> {
    return rowsOfRequest(this.dataSource, ApiCall, requestId, range);
  }

  /** Newest first. One call more than the page size if there is a next page. */
  findCalls(search: CallSearch, { limit, before }: ListPaging): Promise<ApiCall[]> {
    const range = rangeBefore(search.range, before);
    return newestRows(range, limit + 1, (part) => this.searchCalls(part, search, before));
  }

  /** The calls of an app for a user. In one statement, because a user has few calls and an index finds them. */
  findCallsOfUser(
    search: CallSearch & { clientId: string; userId: string },
    { limit, before }: ListPaging,
  ): Promise<ApiCall[]> {
    const query = this.searchCalls(rangeBefore(search.range, before), search, before);
    return query.limit(limit + 1).getMany();
  }

  private searchCalls(
    range: TimeRange,
    { clientId, userId, requestId, statuses, errorCode, routes, exceptRoutes }: CallSearch,
    before: string | undefined,
  ): SelectQueryBuilder<ApiCall> {
    const query = this.inTimeRange(range);
    // Named, because MySQL and MariaDB would sometimes scan the whole log.
    if (userId !== undefined)
      query.useIndex('ix_api_calls_user_id').andWhere('call.userId = :userId', { userId });
    else if (clientId !== undefined) query.useIndex('ix_api_calls_client_id');
    if (clientId !== undefined) query.andWhere('call.clientId = :clientId', { clientId });
    if (requestId !== undefined) query.andWhere({ requestId });
    if (statuses) query.andWhere({ status: Between(...statuses) });
    if (errorCode !== undefined) query.andWhere({ errorCode });
    if (routes) query.andWhere({ route: In(routes) });
    if (exceptRoutes) query.andWhere({ route: Not(In(exceptRoutes)) });
    if (before !== undefined)
      query.andWhere('(call.at < :at OR call.id < :id)', { id: before, at: timeOf(before) });
    return query.orderBy('call.at', 'DESC').addOrderBy('call.id', 'DESC');
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

  /** The daily totals from the day of `from` to that before `to`, of one app, or of all but test apps, in no particular order. */
  async sumTotals(
    by: UsageGroup,
    { from, to }: TimeRange,
    clientId?: string,
  ): Promise<UsageTotal[]> {
    const query = this.dataSource.manager
      .createQueryBuilder(ApiUsageDaily, 'usage')
      .where('usage.day >= :from AND usage.day < :to', { from: dayOf(from), to: dayOf(to) });
    if (clientId === undefined) query.andWhere({ clientId: Not(Like(TEST_APPS)) });
    else query.andWhere({ clientId });
    if (by === 'error') return this.sumErrors(query);
    const column = `usage.${USAGE_COLUMNS[by]}`;
    query.select(column, 'group').addSelect('SUM(usage.calls)', 'calls').groupBy(column);
    const rows = await readQuery<{ group: string | number; calls: string | number }>(query);
    return rows.map(({ group, calls }) => ({ group, calls: Number(calls) }));
  }

  private async sumErrors(query: SelectQueryBuilder<ApiUsageDaily>): Promise<UsageTotal[]> {
    query.andWhere({ errors: Not(IsNull()) }).select('usage.errors', 'errors');
    const sums = new Map<string, number>();
    for (const { errors } of await readQuery<{ errors: string }>(query))
      for (const [code, calls] of Object.entries(JSON.parse(errors) as Record<string, number>))
        sums.set(code, (sums.get(code) ?? 0) + calls);
    return [...sums].map(([group, calls]) => ({ group, calls }));
  }

  private inTimeRange(
    span: TimeRange,
    manager = this.dataSource.manager,
  ): SelectQueryBuilder<ApiCall> {
    return inTimeRange(manager.createQueryBuilder(ApiCall, 'call'), span);
  }
}

/** The part of the range up to the time of this call. */
function rangeBefore({ from, to }: TimeRange, callId: string | undefined): TimeRange {
  const end = callId === undefined ? to : addMilliseconds(timeOf(callId), 1);
  return { from, to: end < to ? end : to };
}
