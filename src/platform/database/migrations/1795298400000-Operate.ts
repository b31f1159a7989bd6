import {
  type Table,
  TableColumn,
  TableIndex,
  type MigrationInterface,
  type QueryRunner,
  type TableColumnOptions,
} from 'typeorm';
import { id, integer, optional, text, time } from './columns.js';

/** Adds the app and user of an audit event, the plan and limit of a closed month, and indices for erasure, pruning and reports. */
export class Operate1795298400000 implements MigrationInterface {
  readonly name = 'Operate1795298400000';

  /** Continues an interrupted run, because MySQL and MariaDB commit each step separately. */
  async up(queryRunner: QueryRunner): Promise<void> {
    const tables = await queryRunner.getTables(TABLE_NAMES);
    for (const { table, columns } of changesOf(tables)) {
      const missing = columns.filter(({ name }) => !table.findColumnByName(name));
      if (missing.length > 0) await queryRunner.addColumns(table, missing);
    }
    await queryRunner.query(copyFromDetails('client_id', 'clientId'));
    await queryRunner.query(copyFromDetails('user_id', 'userId'));
    for (const column of ['subject', 'actor']) {
      await queryRunner.query(copyFromColumn(column, 'client_id', 'svc_app_'));
      await queryRunner.query(copyFromColumn(column, 'user_id', 'usr_'));
    }
    for (const { table, indices } of changesOf(tables)) {
      const known = table.indices.map(({ name }) => name);
      const missing = indices.filter(({ name }) => !known.includes(name));
      if (missing.length > 0) await queryRunner.createIndices(table, missing);
    }
  }

  /** Continues an interrupted run, like `up`. */
  async down(queryRunner: QueryRunner): Promise<void> {
    for (const { table, indices, columns } of changesOf(await queryRunner.getTables(TABLE_NAMES))) {
      const known = table.indices.map(({ name }) => name);
      const existing = indices.filter(({ name }) => known.includes(name));
      if (existing.length > 0) await queryRunner.dropIndices(table, existing);
      const present = columns.filter(({ name }) => table.findColumnByName(name));
      if (present.length > 0) await queryRunner.dropColumns(table, present);
    }
  }
}

const newColumns: Record<string, TableColumnOptions[]> = {
  audit_events: [optional(id('client_id')), optional(id('user_id'))],
  quota_usage: [
    optional(text('closed_plan', 32)),
    optional(integer('closed_limit')),
    optional(time('closed_at')),
  ],
};

const newIndices: Record<string, Record<string, string[]>> = {
  audit_events: {
    ix_audit_events_client_id: ['client_id', 'at'],
    ix_audit_events_user_id: ['user_id', 'at'],
  },
  api_calls: { ix_api_calls_user_id: ['user_id', 'at'] },
  authorizations: { ix_authorizations_user_id: ['user_id'] },
  sign_in_sessions: { ix_sign_in_sessions_user_id: ['user_id'] },
  otp_challenges: { ix_otp_challenges_phone: ['phone'] },
  idempotency_keys: { ix_idempotency_keys_user_id: ['user_id'] },
  quota_usage: { ix_quota_usage_period: ['period'] },
  known_browsers: { ix_known_browsers_phone: ['phone'] },
  posts: { ix_posts_deleted_at: ['deleted_at'] },
  post_likes: { ix_post_likes_user_id: ['user_id', 'post_id'] },
  comments: {
    ix_comments_deleted_at: ['deleted_at'],
    ix_comments_user_id: ['user_id', 'id'],
  },
};

const TABLE_NAMES = Object.keys(newIndices);

function changesOf(
  tables: readonly Table[],
): { table: Table; columns: TableColumn[]; indices: TableIndex[] }[] {
  return TABLE_NAMES.map((tableName) => {
    const table = tables.find(({ name }) => name === tableName || name.endsWith(`.${tableName}`));
    if (!table) throw new Error(`Table "${tableName}" does not exist.`);
    const columns = (newColumns[tableName] ?? []).map((column) => new TableColumn(column));
    const indices = Object.entries(newIndices[tableName] ?? {}).map(
      ([name, columnNames]) => new TableIndex({ name, columnNames }),
    );
    return { table, columns, indices };
  });
}

/** SQL that copies the ids with this prefix from the column `source` to `column`. */
function copyFromColumn(source: string, column: string, prefix: string): string {
  return `UPDATE audit_events SET ${column} = ${source}
    WHERE ${column} IS NULL AND SUBSTR(${source}, 1, ${prefix.length}) = '${prefix}'`;
}

/** SQL that copies a member of `details`, which is JSON text, to `column`. */
function copyFromDetails(column: string, member: string): string {
  const start = `"${member}":"`;
  const rest = `SUBSTR(details, INSTR(details, '${start}') + ${start.length})`;
  return `UPDATE audit_events SET ${column} = SUBSTR(${rest}, 1, INSTR(${rest}, '"') - 1)
    WHERE ${column} IS NULL AND INSTR(details, '${start}') > 0`;
}
