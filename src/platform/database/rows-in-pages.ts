import type {
  DataSource,
  EntityTarget,
  FindOptionsWhere,
  ObjectLiteral,
  SelectQueryBuilder,
} from 'typeorm';

const PAGE_SIZE = 500;

interface PageOptions<T> {
  /** The columns to read; all by default. Must include those of `orderBy`. */
  columns?: readonly (keyof T & string)[];
  /** One or two columns that are unique together; the primary key by default. */
  orderBy?: readonly (keyof T & string)[];
}

/**
 * Yields the rows that match each of `wheres`, one after the other, in pages of 500.
 * Fast if an index has the columns of `where` that have one value, followed by those of `orderBy`.
 */
export async function* rowsInPages<T extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  wheres: Iterable<FindOptionsWhere<T>> | AsyncIterable<FindOptionsWhere<T>>,
  { columns, orderBy }: PageOptions<T> = {},
): AsyncGenerator<T[]> {
  const { primaryColumns } = dataSource.getMetadata(entity);
  const order = orderBy ?? primaryColumns.map(({ propertyName }) => propertyName);
  for await (const where of wheres) {
    let last: T | undefined;
    do {
      const query = dataSource.manager
        .createQueryBuilder(entity, 'page')
        .where(where)
        .take(PAGE_SIZE);
      if (columns) query.select(columns.map((name) => `page.${name}`));
      for (const name of order) query.addOrderBy(`page.${name}`);
      if (last) startAfter(query, order, last);
      const page = await query.getMany();
      if (page.length > 0) yield page;
      last = page[PAGE_SIZE - 1];
    } while (last);
  }
}

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
