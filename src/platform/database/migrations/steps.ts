import { TableColumn, type QueryRunner, type TableColumnOptions } from 'typeorm';

/* Steps that continue an interrupted run, because MySQL and MariaDB commit each statement of a migration separately. */

/** Adds the columns that the table does not have yet. */
export async function addMissingColumns(
  queryRunner: QueryRunner,
  tableName: string,
  columns: readonly TableColumnOptions[],
): Promise<void> {
  const table = await queryRunner.getTable(tableName);
  const missing = columns.filter(({ name }) => !table?.findColumnByName(name));
  if (missing.length > 0)
    await queryRunner.addColumns(
      tableName,
      missing.map((column) => new TableColumn(column)),
    );
}

/** Drops those of the columns that the table still has. */
export async function dropPresentColumns(
  queryRunner: QueryRunner,
  tableName: string,
  columns: readonly TableColumnOptions[],
): Promise<void> {
  const table = await queryRunner.getTable(tableName);
  const present = columns.filter(({ name }) => table?.findColumnByName(name));
  if (present.length > 0)
    await queryRunner.dropColumns(
      tableName,
      present.map(({ name }) => name),
    );
}
