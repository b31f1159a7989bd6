import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DataSource, EntityTarget, SelectQueryBuilder } from 'typeorm';
import { addMilliseconds, floorTo } from '../clock.js';

/** A row of an append-only table with the primary key (`at`, `id`). */
export interface LogRow {
  at: Date;
  id: string;
}

export interface TimeRange {
  /** Inclusive. */
  from: Date;
  /** Exclusive. */
  to: Date;
}

export function inTimeRange<T extends LogRow>(
  query: SelectQueryBuilder<T>,
  { from, to }: TimeRange,
): SelectQueryBuilder<T> {
  const at = `${query.alias}.at`;
  return query.where(`${at} >= :from AND ${at} < :to`, { from, to });
}

/**
 * The parts of the time range that contain rows, oldest first. A statement for one part stays below the query timeout, however long
 * the log is. Yields to the event loop between parts, because the SQLite driver blocks the process.
 * @param unitMs the length of a part, such as `HOUR`. Parts begin at multiples of it in UTC.
 */
export async function* partsWithRows<T extends LogRow>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  { from, to }: TimeRange,
  unitMs: number,
): AsyncGenerator<TimeRange> {
  for (let start = from; ;) {
    const query = dataSource.manager.createQueryBuilder(entity, 'log');
    const first = await inTimeRange(query, { from: start, to })
      .select(['log.at', 'log.id'])
      .orderBy('log.at')
      .limit(1)
      .getOne();
    if (!first) return;
    const part = floorTo(first.at, unitMs);
    const next = addMilliseconds(part, unitMs);
    yield { from: part < from ? from : part, to: next > to ? to : next };
    await nextTurn();
    start = next;
  }
}
