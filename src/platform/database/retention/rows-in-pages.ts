import type {
  DataSource,
  EntityTarget,
  FindOptionsWhere,
  ObjectLiteral,
  SelectQueryBuilder,
} from 'typeorm';

const PAGE = 500;

/**
 * The rows that match `where`, in the order of their primary key, 500 at a time, so that few are in memory.
 * Fast where an index has the columns of `where`, and the key after them.
 * @param columns what to read of them; everything by default
 */
export async function* rowsInPages<T extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  where: FindOptionsWhere<T>,
  columns?: readonly (keyof T & string)[],
): AsyncGenerator<T[]> {
  const key = dataSource.getMetadata(entity).primaryColumns.map((one) => one.propertyName);
  let last: T | undefined;
  for (;;) {
    const query = dataSource.manager.createQueryBuilder(entity, 'page').where(where).take(PAGE);
    if (columns) query.select(columns.map((name) => `page.${name}`));
    for (const name of key) query.addOrderBy(`page.${name}`);
    if (last) follow(query, key, last);
    const page = await query.getMany();
    if (page.length > 0) yield page;
    last = page.at(-1);
    if (page.length < PAGE) return;
  }
}

/** Continues after a row. Keys have one or two columns. */
function follow<T extends ObjectLiteral>(
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
