import type {
  DataSource,
  EntityTarget,
  FindOptionsWhere,
  ObjectLiteral,
  SelectQueryBuilder,
} from 'typeorm';

const PAGE_SIZE = 500;

/**
 * Yields the rows that match `where` in pages of 500, in the order of the primary key.
 * Fast if an index has the columns of `where` followed by the key.
 * @param options.columns the columns to read; all by default
 */
export async function* rowsInPages<T extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  { where, columns }: { where: FindOptionsWhere<T>; columns?: readonly (keyof T & string)[] },
): AsyncGenerator<T[]> {
  const key = dataSource.getMetadata(entity).primaryColumns.map((column) => column.propertyName);
  let last: T | undefined;
  for (;;) {
    const query = dataSource.manager
      .createQueryBuilder(entity, 'page')
      .where(where)
      .take(PAGE_SIZE);
    if (columns) query.select(columns.map((name) => `page.${name}`));
    for (const name of key) query.addOrderBy(`page.${name}`);
    if (last) startAfter(query, key, last);
    const page = await query.getMany();
    if (page.length > 0) yield page;
    last = page.at(-1);
    if (page.length < PAGE_SIZE) return;
  }
}

/** Supports keys of one or two columns. */
function startAfter<T extends ObjectLiteral>(
  query: SelectQueryBuilder<T>,
  [first, second]: readonly string[],
  last: T,
): void {
  if (first === undefined) return;
  if (second === undefined) query.andWhere(`page.${first} > :first`, { first: last[first] });
  else
    query
      .andWhere(`page.${first} >= :first`, { first: last[first] })
      .andWhere(`(page.${first} > :first OR page.${second} > :second)`, { second: last[second] });
}
