import {
  TableIndex,
  type MigrationInterface,
  type QueryRunner,
  type TableColumnOptions,
} from 'typeorm';
import { id, longText, optional, text } from './columns.js';
import { addMissingColumns, dropPresentColumns } from './steps.js';

/**
 * Adds the error codes of API calls, the app of a comment, the operator's reference of an app, and an index for the calls of an app.
 * MySQL and MariaDB add these columns without reading the rows, and build the index while calls are written.
 */
export class AnswerOperators1795910400000 implements MigrationInterface {
  readonly name = 'AnswerOperators1795910400000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [tableName, column] of newColumns)
      await addMissingColumns(queryRunner, tableName, [column]);
    const calls = await queryRunner.getTable('api_calls');
    if (!calls?.indices.some(({ name }) => name === newIndex.name))
      await queryRunner.createIndex('api_calls', newIndex);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const calls = await queryRunner.getTable('api_calls');
    if (calls?.indices.some(({ name }) => name === newIndex.name))
      await queryRunner.dropIndex('api_calls', newIndex);
    for (const [tableName, column] of newColumns)
      await dropPresentColumns(queryRunner, tableName, [column]);
  }
}

const newColumns: readonly [table: string, column: TableColumnOptions][] = [
  ['api_calls', optional(text('error_code', 64))],
  ['api_usage_daily', optional(longText('errors'))],
  ['comments', optional(id('client_id'))],
  ['apps', optional(text('reference', 100))],
];

const newIndex = new TableIndex({
  name: 'ix_api_calls_client_id',
  columnNames: ['client_id', 'at'],
});
