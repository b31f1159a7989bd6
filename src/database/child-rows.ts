import type { DataSource, EntityTarget, FindOptionsWhere, ObjectLiteral } from 'typeorm';
import { foundRows, type ExpiredRows } from './expired-rows.js';
import { rowsInPages } from './rows-in-pages.js';

/** Rows by the rows that they belong to: `link` is the column that has the id of a parent for which one of `wheres` holds. */
export interface Children<P, C> {
  parent: EntityTarget<P>;
  wheres: readonly FindOptionsWhere<P>[];
  child: EntityTarget<C>;
  link: keyof C & string;
}

/**
 * Rows to be deleted before those that they belong to. They are found some parents at a time, so that what takes many batches
 * does not begin at the first parent each time: ask for keys, and delete their rows, until there are none.
 */
export function childRows<P extends { id: string }, C extends ObjectLiteral>(
  dataSource: DataSource,
  { parent, wheres, child, link }: Children<P, C>,
): ExpiredRows {
  async function* parents(): AsyncGenerator<ExpiredRows> {
    for (const where of wheres)
      for await (const page of rowsInPages<P>(dataSource, parent, where, ['id']))
        yield childrenOf(page.map(({ id }) => id));
  }
  const childrenOf = (ids: string[]): ExpiredRows =>
    foundRows(dataSource, child, (query) =>
      query.where(`${query.alias}.${link} IN (:...ids)`, { ids }),
    );
  const walk = parents();
  let some = childrenOf(['']);
  return {
    ...some,
    count: async () => {
      let count = 0;
      for await (const children of parents()) count += await children.count();
      return count;
    },
    keys: async (limit) => {
      for (;;) {
        const keys = await some.keys(limit);
        if (keys.length > 0) return keys;
        const next = await walk.next();
        if (next.done === true) return [];
        some = next.value;
      }
    },
  };
}
