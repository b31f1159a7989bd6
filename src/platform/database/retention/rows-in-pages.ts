import type {
  DataSource,
  EntityTarget,
  FindOptionsWhere,
  ObjectLiteral,
  SelectQueryBuilder,
} from 'typeorm';

const PAGE = 500;

/**
 * The rows for which `where` holds, in the order of their primary key, 500 at a time: whoever reads many of them holds few.
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
    const query = dataSource.manager.createQueryBuilder(entity, 'kept').where(where).take(PAGE);
    if (columns) query.select(columns.map((name) => `kept.${name}`));
    for (const name of key) query.addOrderBy(`kept.${name}`);
    if (last) follow(query, key, last);
    const page = await query.getMany();
    if (page.length > 0) yield page;
    last = page.at(-1);
    if (page.length < PAGE) return;
  }
}

/** Goes on after a row. No key here has more than two columns. */
function follow<T extends ObjectLiteral>(
  query: SelectQueryBuilder<T>,
  [first, second]: readonly string[],
  last: T,
): void {
  if (first === undefined) return;
  if (second === undefined) query.andWhere(`kept.${first} > :first`, { first: last[first] });
  else
    query
      .andWhere(`kept.${first} >= :first`, { first: last[first] })
      .andWhere(`(kept.${first} > :first OR kept.${second} > :second)`, { second: last[second] });
}
