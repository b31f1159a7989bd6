import type { DataSource, EntityTarget, FindOptionsWhere, ObjectLiteral } from 'typeorm';
import type { ExpiredRows } from './expired-rows.js';
import { rowsInPages } from './rows-in-pages.js';

/** Whose data it is. `phone` is E.164, and null once the user's own row is gone. */
export interface Person {
  userId: string;
  phone: string | null;
}

/** The rows of one table about a person, by the names of its columns. */
export interface PersonalRows {
  table: string;
  rows: AsyncIterable<object>;
}

/** The personal data of one part of the service. A test finds tables that no part names. */
export interface PersonalData {
  /** Everything about a person, without hashes. */
  rowsToExport(person: Person): PersonalRows[];

  /** The rows that an erasure deletes or makes anonymous, in this order. */
  rowsToErase(person: Person): ExpiredRows[];
}

/** The rows of a table for which one of `wheres` holds, without the columns of `omit`. */
export function personalRows<T extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  wheres: readonly FindOptionsWhere<T>[],
  omit: readonly (keyof T & string)[] = [],
): PersonalRows {
  const { tableName, columns } = dataSource.getMetadata(entity);
  const exported = columns.filter(({ propertyName }) => !omit.includes(propertyName));
  async function* rows(): AsyncGenerator<object> {
    for (const where of wheres)
      for await (const page of rowsInPages(dataSource, entity, where))
        for (const row of page)
          yield Object.fromEntries(
            exported.map((one) => [one.databaseName, one.getEntityValue(row)]),
          );
  }
  return { table: tableName, rows: rows() };
}
