import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { Paging } from '../common/page.js';

/**
 * Cuts a page out of a query of ids, newest first, and one id more, which tells that the list goes on.
 * @param index an index of the columns that the query compares, and the id: a page after an id starts there, and one by its
 *   number skips entries of the index alone. It is named because MySQL and MariaDB would rather walk the primary key, or the
 *   list from its top.
 */
export function cutPage<T extends ObjectLiteral>(
  ids: SelectQueryBuilder<T>,
  index: string,
  { page, limit, before }: Paging,
): SelectQueryBuilder<T> {
  const id = `${ids.alias}.id`;
  ids
    .useIndex(index)
    .orderBy(id, 'DESC')
    .limit(limit + 1);
  return before === undefined
    ? ids.offset((page - 1) * limit)
    : ids.andWhere(`${id} < :before`, { before });
}
