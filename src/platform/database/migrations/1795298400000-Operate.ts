import {
  Table,
  TableColumn,
  TableIndex,
  type MigrationInterface,
  type QueryRunner,
  type TableColumnOptions,
} from 'typeorm';
import {
  bytes,
  counter,
  flag,
  hash,
  id,
  integer,
  key,
  optional,
  smallint,
  text,
  time,
  url,
} from './columns.js';
import { MigrationRefused } from './releases.js';

/**
 * Adds columns for security (external ids, withdrawn scopes, late replays, wrong codes of a device, apps that require PKCE, hidden
 * posts), the publisher, links and logo of an app, the app and user of an audit event, the plan and limit of a closed month, and
 * indices for erasure, pruning, reports and the grants of an app.
 */
export class Operate1795298400000 implements MigrationInterface {
  readonly name = 'Operate1795298400000';

  /** Continues an interrupted run, because MySQL and MariaDB commit each step separately. */
  async up(queryRunner: QueryRunner): Promise<void> {
    const ifNotExists = true;
    await queryRunner.createTable(appLogoParts, ifNotExists);
    const tables = await queryRunner.getTables(TABLE_NAMES);
    for (const { table, columns } of changesOf(tables)) {
      const missing = columns.filter(({ name }) => !table.findColumnByName(name));
      if (missing.length > 0) await queryRunner.addColumns(table, missing);
    }
    await setPhoneOptional(queryRunner, true);
    await fillAppAndUser(queryRunner);
    for (const { table, indices } of changesOf(tables)) {
      const known = table.indices.map(({ name }) => name);
      const missing = indices.filter(({ name }) => !known.includes(name));
      if (missing.length > 0) await queryRunner.createIndices(table, missing);
    }
  }

  /** Continues an interrupted run, like `up`. */
  checkRevert(queryRunner: QueryRunner): Promise<void> {
    return refuseUsersWithoutPhone(queryRunner);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await refuseUsersWithoutPhone(queryRunner);
    await setPhoneOptional(queryRunner, false);
    await endReducedGrants(queryRunner);
    for (const { table, indices, columns } of changesOf(await queryRunner.getTables(TABLE_NAMES))) {
      const known = table.indices.map(({ name }) => name);
      const existing = indices.filter(({ name }) => known.includes(name));
      if (existing.length > 0) await queryRunner.dropIndices(table, existing);
      const present = columns.filter(({ name }) => table.findColumnByName(name));
      if (present.length > 0) await queryRunner.dropColumns(table, present);
    }
    const ifExists = true;
    await queryRunner.dropTable(appLogoParts, ifExists);
  }
}

const appLogoParts = new Table({
  name: 'app_logo_parts',
  columns: [key(id('client_id')), key(smallint('position')), bytes('content')],
});

const newColumns: Record<string, TableColumnOptions[]> = {
  apps: [
    flag('requires_pkce'),
    optional(time('posts_hidden_at')),
    optional(text('publisher', 60)),
    optional(url('homepage_url')),
    optional(url('privacy_url')),
    optional(url('terms_url')),
    flag('verified'),
    optional(hash('logo_hash')),
  ],
  grants: [optional(text('withdrawn_scope', 255))],
  known_browsers: [counter('failures')],
  refresh_tokens: [optional(time('replayed_at'))],
  users: [optional(text('external_id', 128))],
  audit_events: [optional(id('client_id')), optional(id('user_id'))],
  quota_usage: [
    optional(text('closed_plan', 32)),
    optional(integer('closed_limit')),
    optional(time('closed_at')),
  ],
};

/** Indices whose name begins with `ux_` are unique. */
const newIndices: Record<string, Record<string, string[]>> = {
  apps: {},
  grants: { ix_grants_client_id: ['client_id', 'id'] },
  refresh_tokens: {},
  users: { ux_users_external_id: ['external_id'] },
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
      ([name, columnNames]) =>
        new TableIndex({ name, columnNames, isUnique: name.startsWith('ux_') }),
    );
    return { table, columns, indices };
  });
}

/** Changes nothing if the column is already as wanted. */
async function setPhoneOptional(queryRunner: QueryRunner, isNullable: boolean): Promise<void> {
  const table = await queryRunner.getTable('users');
  const phone = table?.findColumnByName('phone');
  if (!table || !phone || phone.isNullable === isNullable) return;
  const changed = phone.clone();
  changed.isNullable = isNullable;
  if (queryRunner.dataSource.options.type !== 'better-sqlite3') {
    // TypeORM leaves out the defaults of the table. MySQL would then show the column differently.
    const [{ collation }] = await queryRunner.query(COLLATION_OF_PHONE);
    Object.assign(changed, { charset: 'utf8mb4', collation });
  }
  await queryRunner.changeColumn(table, phone, changed);
}

/** Deletes the tokens of grants with withdrawn scopes: version 1.0 would accept them with all scopes. */
async function endReducedGrants(queryRunner: QueryRunner): Promise<void> {
  const grants = await queryRunner.getTable('grants');
  if (!grants?.findColumnByName('withdrawn_scope')) return;
  for (const table of ['access_tokens', 'refresh_tokens', 'authorization_codes'])
    await queryRunner.query(
      `DELETE FROM ${table} WHERE grant_id IN (SELECT id FROM grants WHERE withdrawn_scope IS NOT NULL)`,
    );
}

const COLLATION_OF_PHONE = `
  SELECT COLLATION_NAME AS collation FROM information_schema.COLUMNS
  WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'users' AND COLUMN_NAME = 'phone'`;

async function refuseUsersWithoutPhone(queryRunner: QueryRunner): Promise<void> {
  const rows: unknown[] = await queryRunner.query(
    'SELECT id FROM users WHERE phone IS NULL LIMIT 1',
  );
  if (rows.length > 0)
    throw new MigrationRefused(
      'Version 1.0 needs a phone number for every user. Give a number to each user without one ("user change-phone"), or erase the user, and try again.',
    );
}

/** Rows per transaction. Group Replication rejects transactions of more than 150 MB. */
const BATCH_SIZE = 5000;

/** Primary key of an audit event, in the format of the driver. */
interface EventKey {
  at: unknown;
  id: string;
}

/**
 * Fills the new columns of `audit_events` in the order of its primary key, so that each batch reads only its own rows. A second run
 * only reads the rows that are filled.
 */
async function fillAppAndUser(queryRunner: QueryRunner): Promise<void> {
  const fill = `UPDATE audit_events
    SET client_id = ${idOf('clientId', 'svc_app_')}, user_id = ${idOf('userId', 'usr_')}
    WHERE client_id IS NULL AND user_id IS NULL`;
  const after = 'at >= ? AND (at > ? OR id > ?)';
  const upTo = 'at <= ? AND (at < ? OR id <= ?)';
  const parameters = ({ at, id: eventId }: EventKey): unknown[] => [at, at, eventId];
  let [previous]: EventKey[] = await queryRunner.query(
    'SELECT at, id FROM audit_events ORDER BY at, id LIMIT 1',
  );
  if (previous === undefined) return;
  // The first event itself comes after this key.
  previous = { ...previous, id: '' };
  for (;;) {
    const [last]: EventKey[] = await queryRunner.query(
      `SELECT at, id FROM audit_events WHERE ${after} ORDER BY at, id LIMIT 1 OFFSET ${BATCH_SIZE - 1}`,
      parameters(previous),
    );
    if (last === undefined) break;
    await queryRunner.query(`${fill} AND ${after} AND ${upTo}`, [
      ...parameters(previous),
      ...parameters(last),
    ]);
    previous = last;
  }
  await queryRunner.query(`${fill} AND ${after}`, parameters(previous));
}

/** SQL for the id with this prefix in the details, which are JSON text, else in the subject, else in the actor. */
function idOf(member: string, prefix: string): string {
  const start = `"${member}":"`;
  const rest = `SUBSTR(details, INSTR(details, '${start}') + ${start.length})`;
  const hasPrefix = (column: string): string =>
    `SUBSTR(${column}, 1, ${prefix.length}) = '${prefix}'`;
  return `CASE WHEN INSTR(details, '${start}') > 0 THEN SUBSTR(${rest}, 1, INSTR(${rest}, '"') - 1)
    WHEN ${hasPrefix('subject')} THEN subject WHEN ${hasPrefix('actor')} THEN actor END`;
}
