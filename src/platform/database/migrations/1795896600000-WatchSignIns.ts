import { Table, type MigrationInterface, type QueryRunner, type TableColumnOptions } from 'typeorm';
import { counter, hash, id, integer, key, optional, text, time } from './columns.js';
import { addMissingColumns, dropPresentColumns } from './steps.js';

/**
 * Adds the digits and the guesses of a one-time password, the identity of the app in a grant, the counts of one-time passwords, and
 * their pause.
 */
export class WatchSignIns1795896600000 implements MigrationInterface {
  readonly name = 'WatchSignIns1795896600000';

  async up(queryRunner: QueryRunner): Promise<void> {
    const ifNotExists = true;
    for (const table of newTables) await queryRunner.createTable(table, ifNotExists);
    for (const [tableName, columns] of Object.entries(newColumns))
      await addMissingColumns(queryRunner, tableName, columns);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const [tableName, columns] of Object.entries(newColumns))
      await dropPresentColumns(queryRunner, tableName, columns);
    const ifExists = true;
    for (const table of newTables) await queryRunner.dropTable(table, ifExists);
  }
}

const newTables = [
  new Table({
    name: 'otp_counts',
    columns: [
      key(time('hour')),
      key(text('country', 3)),
      key(id('client_id')),
      key(text('result', 16)),
      counter('total'),
    ],
  }),
  new Table({ name: 'otp_pauses', columns: [key(text('id', 16)), time('paused_at')] }),
];

const newColumns: Record<string, TableColumnOptions[]> = {
  otp_challenges: [
    { ...integer('digits'), default: 6 },
    { ...integer('max_attempts'), default: 5 },
  ],
  grants: [optional(hash('identity_hash'))],
};
