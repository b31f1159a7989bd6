import type { DataSource, EntityTarget, SelectQueryBuilder } from 'typeorm';
import { DAY, later } from '../common/clock.js';
import { foundRows, type ExpiredRows } from './expired-rows.js';
import { entities } from './transaction.js';

/** A row of a table that is only added to. Time and id are its primary key, in this order. */
export interface LogRow {
  at: Date;
  id: string;
}

/** From its first moment until before its last. */
export interface Span {
  from: Date;
  to: Date;
}

/** Narrows a query down to the rows of a span. */
export function within<T extends LogRow>(
  query: SelectQueryBuilder<T>,
  { from, to }: Span,
): SelectQueryBuilder<T> {
  const at = `${query.alias}.at`;
  return query.where(`${at} >= :from AND ${at} < :to`, { from, to });
}

/** The time of the first row within `span`; null when there is none. */
export async function firstWithin<T extends LogRow>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  span: Span,
): Promise<Date | null> {
  const query = dataSource.manager.createQueryBuilder(entity, 'log');
  const first = await within(query, span)
    .select(['log.at', 'log.id'])
    .orderBy('log.at')
    .limit(1)
    .getOne();
  return first?.at ?? null;
}

/**
 * The rows before a moment. They are deleted from the oldest key to the last one that was found, as nobody else touches them:
 * that is far cheaper than naming each. They are counted a day at a time, so that no statement takes long.
 */
export function expiredLogRows<T extends LogRow>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  before: Date,
): ExpiredRows {
  // A server passes over what it has deleted and not yet swept away, so each search begins where the last batch ended.
  let from = new Date(0);
  const rows = foundRows(dataSource, entity, (query) =>
    within(query, { from, to: before }).orderBy('expired.at').addOrderBy('expired.id'),
  );
  return {
    ...rows,
    count: async () => {
      let count = 0;
      let first = await firstWithin(dataSource, entity, { from, to: before });
      while (first) {
        const dayAfter = later(first, DAY);
        const to = dayAfter < before ? dayAfter : before;
        const query = dataSource.manager.createQueryBuilder(entity, 'log');
        count += await within(query, { from: first, to }).getCount();
        first = await firstWithin(dataSource, entity, { from: to, to: before });
      }
      return count;
    },
    delete: async (tx, keys) => {
      const last = keys.at(-1);
      if (!last) return 0;
      const { affected } = await entities(tx)
        .createQueryBuilder()
        .delete()
        .from(entity)
        .where('at <= :at AND (at < :at OR id <= :id)', last)
        .execute();
      from = last.at as Date;
      return affected ?? 0;
    },
  };
}
