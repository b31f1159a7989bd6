import { type MigrationInterface, type QueryRunner, Table, TableIndex } from 'typeorm';
import {
  counter,
  flag,
  hash,
  id,
  integer,
  key,
  longText,
  optional,
  text,
  time,
  url,
} from './columns.js';
import { addMissingColumns, dropPresentColumns } from './steps.js';

/** Adds the endpoints of apps, the events for them, and the last percentage of the quota of which an app was told. */
export class AddWebhooks1795966800000 implements MigrationInterface {
  readonly name = 'AddWebhooks1795966800000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const table of tables) await queryRunner.createTable(table, true);
    await addMissingColumns(queryRunner, 'quota_usage', [notifiedPercent]);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of tables) await queryRunner.dropTable(table, true);
    await dropPresentColumns(queryRunner, 'quota_usage', [notifiedPercent]);
  }
}

const notifiedPercent = optional(integer('notified_percent'));

const tables = [
  new Table({
    name: 'webhook_endpoints',
    columns: [
      key(id('client_id')),
      url('url'),
      hash('secret_salt'),
      optional(hash('former_salt')),
      optional(time('former_until')),
      time('created_at'),
      optional(time('disabled_at')),
      optional(text('disabled_by', 16)),
      optional(time('failing_since')),
      optional(time('leased_until')),
      flag('fails_next'),
    ],
  }),
  new Table({
    name: 'webhook_events',
    columns: [
      key(id('client_id')),
      key(id('id')),
      text('type', 32),
      optional(id('user_id')),
      optional(id('subject_id')),
      longText('details'),
      time('created_at'),
      optional(time('due_at')),
      counter('attempts'),
      optional(text('last_result', 64)),
      optional(text('outcome', 16)),
    ],
    indices: [
      new TableIndex({ name: 'ix_webhook_events_due_at', columnNames: ['client_id', 'due_at'] }),
      new TableIndex({ name: 'ix_webhook_events_user_id', columnNames: ['user_id'] }),
      new TableIndex({ name: 'ix_webhook_events_created_at', columnNames: ['created_at'] }),
    ],
  }),
];
