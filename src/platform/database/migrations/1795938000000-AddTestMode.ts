import type { MigrationInterface, QueryRunner, TableColumnOptions } from 'typeorm';
import { flag, hash, integer, optional } from './columns.js';
import { MigrationRefused } from './releases.js';
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
    await queryRunner.query(MARK_TEST_APPS);
  }

  checkRevert(queryRunner: QueryRunner): Promise<void> {
    return refuseTestMode(queryRunner);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await refuseTestMode(queryRunner);
    for (const [tableName, columns] of newColumns)
      await dropPresentColumns(queryRunner, tableName, columns);
  }
}

const newColumns: readonly [table: string, columns: readonly TableColumnOptions[]][] = [
  ['apps', [flag('test'), optional(integer('access_token_seconds'))]],
  ['users', [optional(hash('test_code_hash'))]],
];

/** After `db revert`, test apps are still registered. No other client id begins like theirs. */
const MARK_TEST_APPS = `UPDATE apps SET test = 1 WHERE client_id LIKE 'svc_app_test_%'`;

const IN_USE: readonly [table: string, column: string, select: string][] = [
  [
    'apps',
    'test',
    `SELECT client_id AS id FROM apps WHERE test <> 0 AND status = 'enabled' LIMIT 1`,
  ],
  [
    'users',
    'test_code_hash',
    `SELECT id FROM users WHERE test_code_hash IS NOT NULL AND status = 'active' LIMIT 1`,
  ],
];

/** Continues an interrupted run, which may have dropped a column. @throws MigrationRefused */
async function refuseTestMode(queryRunner: QueryRunner): Promise<void> {
  for (const [table, column, select] of IN_USE) {
    if (!(await queryRunner.hasColumn(table, column))) continue;
    const [row]: { id: string }[] = await queryRunner.query(select);
    if (row)
      throw new MigrationRefused(
        `Earlier versions would treat test apps and test members as real, such as ${row.id}. Disable each test app ("app list --test", "app disable"), block each test member ("user block"), and try again.`,
      );
  }
}
