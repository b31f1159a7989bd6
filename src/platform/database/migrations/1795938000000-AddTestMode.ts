import type { MigrationInterface, QueryRunner, TableColumnOptions } from 'typeorm';
import { flag, hash, integer, optional } from './columns.js';
import { addMissingColumns, dropPresentColumns } from './steps.js';

/**
 * Adds test apps, the lifetime of their access tokens, and the code of test members. Version 1.1 leaves them empty and treats both
 * as real, so operators add them once all processes run this version. MySQL and MariaDB add these columns without reading the rows.
 */
export class AddTestMode1795938000000 implements MigrationInterface {
  readonly name = 'AddTestMode1795938000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [tableName, columns] of newColumns)
      await addMissingColumns(queryRunner, tableName, columns);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const [tableName, columns] of newColumns)
      await dropPresentColumns(queryRunner, tableName, columns);
  }
}

const newColumns: readonly [table: string, columns: readonly TableColumnOptions[]][] = [
  ['apps', [flag('test'), optional(integer('access_token_seconds'))]],
  ['users', [optional(hash('test_code_hash'))]],
];
