import {
  Table,
  TableColumn,
  type MigrationInterface,
  type QueryRunner,
  type TableColumnOptions,
} from 'typeorm';
import { counter, hash, id, integer, key, optional, text, time } from './columns.js';

/**
 * Adds the digits and the guesses of a one-time password, the identity of the app in a grant, the counts of one-time passwords, and
 * their pause.
 */
export class WatchSignIns1795896600000 implements MigrationInterface {
  readonly name = 'WatchSignIns1795896600000';

  /** Continues an interrupted run, because MySQL and MariaDB commit each step separately. */
  async up(queryRunner: QueryRunner): Promise<void> {
    const ifNotExists = true;
    for (const table of newTables) await queryRunner.createTable(table, ifNotExists);
    for (const [tableName, columns] of Object.entries(newColumns)) {
      const table = await queryRunner.getTable(tableName);
      const missing = columns.filter(({ name }) => !table?.findColumnByName(name));
      if (missing.length > 0)
        await queryRunner.addColumns(
          tableName,
          missing.map((column) => new TableColumn(column)),
        );
    }
  }

  /** Continues an interrupted run, like `up`. */
  async down(queryRunner: QueryRunner): Promise<void> {
    for (const [tableName, columns] of Object.entries(newColumns)) {
      const table = await queryRunner.getTable(tableName);
      const present = columns.filter(({ name }) => table?.findColumnByName(name));
      if (present.length > 0)
        await queryRunner.dropColumns(
          tableName,
          present.map(({ name }) => name),
        );
    }
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
