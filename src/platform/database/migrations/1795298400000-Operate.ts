import {
  type Table,
  TableColumn,
  TableIndex,
  type MigrationInterface,
  type QueryRunner,
  type TableColumnOptions,
} from 'typeorm';
import { id, integer, optional, text, time } from './columns.js';

/** For operators: the app and user of an audit event, the quota of a closed month, and indices by user. */
export class Operate1795298400000 implements MigrationInterface {
  readonly name = 'Operate1795298400000';

  /** A run that another one stopped goes on where it was: MySQL and MariaDB commit each step by itself. */
  async up(queryRunner: QueryRunner): Promise<void> {
    const tables = await queryRunner.getTables(NAMES);
    for (const { table, columns } of changesOf(tables)) {
      const missing = columns.filter(({ name }) => !table.findColumnByName(name));
      if (missing.length > 0) await queryRunner.addColumns(table, missing);
    }
    await queryRunner.query(detailOf('client_id', 'clientId'));
    await queryRunner.query(detailOf('user_id', 'userId'));
    for (const column of ['subject', 'actor']) {
      await queryRunner.query(idIn(column, 'client_id', 'svc_app_'));
      await queryRunner.query(idIn(column, 'user_id', 'usr_'));
    }
    for (const { table, indices } of changesOf(tables)) {
      const known = table.indices.map(({ name }) => name);
      const missing = indices.filter(({ name }) => !known.includes(name));
      if (missing.length > 0) await queryRunner.createIndices(table, missing);
    }
  }

  /** Goes on like `up`: what is gone already is passed over. */
  async down(queryRunner: QueryRunner): Promise<void> {
    for (const { table, indices, columns } of changesOf(await queryRunner.getTables(NAMES))) {
      const known = table.indices.map(({ name }) => name);
      const left = indices.filter(({ name }) => known.includes(name));
      if (left.length > 0) await queryRunner.dropIndices(table, left);
      const held = columns.filter(({ name }) => table.findColumnByName(name));
      if (held.length > 0) await queryRunner.dropColumns(table, held);
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

const NAMES = Object.keys(newIndices);

function changesOf(
  tables: readonly Table[],
): { table: Table; columns: TableColumn[]; indices: TableIndex[] }[] {
  return NAMES.map((tableName) => {
    const table = tables.find(({ name }) => name === tableName || name.endsWith(`.${tableName}`));
    if (!table) throw new Error(`Table "${tableName}" does not exist.`);
    const columns = (newColumns[tableName] ?? []).map((column) => new TableColumn(column));
    const indices = Object.entries(newIndices[tableName] ?? {}).map(
      ([name, columnNames]) => new TableIndex({ name, columnNames }),
    );
    return { table, columns, indices };
  });
}

/** Events that an app or a user did, or that are about them. */
function idIn(source: string, column: string, prefix: string): string {
  return `UPDATE audit_events SET ${column} = ${source}
    WHERE ${column} IS NULL AND SUBSTR(${source}, 1, ${prefix.length}) = '${prefix}'`;
}

/** Events that name them among the details, which are JSON text. */
function detailOf(column: string, member: string): string {
  const start = `"${member}":"`;
  const rest = `SUBSTR(details, INSTR(details, '${start}') + ${start.length})`;
  return `UPDATE audit_events SET ${column} = SUBSTR(${rest}, 1, INSTR(${rest}, '"') - 1)
    WHERE ${column} IS NULL AND INSTR(details, '${start}') > 0`;
}
