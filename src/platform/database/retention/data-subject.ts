import type { DataSource, EntityTarget, FindOptionsWhere, ObjectLiteral } from 'typeorm';
import type { DeletableRows } from './deletion-queries.js';
import { rowsInPages } from './rows-in-pages.js';

/** The user whose data is exported or erased. `phone` is in E.164 format; null if the user row is already deleted. */
export interface Person {
  userId: string;
  phone: string | null;
}

/** The rows of one table about a person, as objects by column name. */
export interface PersonalRows {
  table: string;
  rows: AsyncIterable<object>;
}

/** The personal data of one module. A test fails for tables that no module covers. */
export interface PersonalData {
  /** All data about the person, without hashes, other protocol secrets and columns that repeat the id of the user. */
  rowsToExport(person: Person): PersonalRows[];

  /** The rows to delete or anonymize, in this order. */
  rowsToErase(person: Person): DeletableRows[];
}

interface ExportSelection<T> {
  wheres: readonly FindOptionsWhere<T>[];
  omit?: readonly (keyof T & string)[];
}

/** The rows of a table that match any of `wheres`, without the columns in `omit`. */
export function personalRows<T extends ObjectLiteral>(
  dataSource: DataSource,
  entity: EntityTarget<T>,
  { wheres, omit = [] }: ExportSelection<T>,
): PersonalRows {
  const { tableName, columns } = dataSource.getMetadata(entity);
  const exported = columns.filter(({ propertyName }) => !omit.includes(propertyName));
  async function* rows(): AsyncGenerator<object> {
    for (const where of wheres)
      for await (const page of rowsInPages(dataSource, entity, { where }))
        for (const row of page)
          yield Object.fromEntries(
            exported.map((column) => [column.databaseName, column.getEntityValue(row)]),
          );
  }
  return { table: tableName, rows: rows() };
}
