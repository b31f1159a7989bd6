import {
  Table,
  type MigrationInterface,
  type QueryRunner,
  type TableColumnOptions,
  type TableIndexOptions,
} from 'typeorm';
import {
  counter,
  double,
  flag,
  hash,
  id,
  integer,
  key,
  longText,
  optional,
  scope,
  smallint,
  text,
  time,
  url,
} from './columns.js';

/** Compares code points without padding, like SQLite. With utf8mb4_bin, `a` would equal `a` followed by a space. */
const COLLATION = { mysql: 'utf8mb4_0900_bin', mariadb: 'utf8mb4_nopad_bin' };

/** Creates every table of release 1.0.0. Keep the name: the database has recorded it. */
export class CreatePlatform1795219200000 implements MigrationInterface {
  readonly name = 'CreatePlatform1795219200000';

  async up(queryRunner: QueryRunner): Promise<void> {
    const { type } = queryRunner.dataSource.options;
    if (type === 'mysql' || type === 'mariadb') await setCollation(queryRunner, COLLATION[type]);
    // MySQL and MariaDB commit each table separately, so a run skips the tables that an interrupted one created.
    const ifNotExists = true;
    for (const entry of tables) await queryRunner.createTable(entry, ifNotExists);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const ifExists = true;
    for (const { name } of tables.toReversed()) await queryRunner.dropTable(name, ifExists);
  }
}

/** Does nothing if the database has the collation: Vitess has no ALTER DATABASE, so its operator sets the collation. */
async function setCollation(queryRunner: QueryRunner, collation: string): Promise<void> {
  const [row]: { current: string }[] = await queryRunner.query(
    'SELECT @@collation_database AS current',
  );
  if (row?.current !== collation)
    await queryRunner.query(`ALTER DATABASE CHARACTER SET utf8mb4 COLLATE ${collation}`);
}

const tables = [
  table(
    'users',
    [
      key(id('id')),
      text('status', 16),
      text('phone', 16),
      text('name', 200),
      optional(url('photo_url')),
      counter('karma'),
      optional(text('neighborhood', 200)),
      optional(double('latitude')),
      optional(double('longitude')),
      counter('post_count'),
      time('created_at'),
    ],
    [{ name: 'ux_users_phone', columnNames: ['phone'], isUnique: true }],
  ),
  table('apps', [
    key(id('client_id')),
    text('name', 200),
    text('kind', 16),
    scope('scope'),
    text('status', 16),
    time('created_at'),
  ]),
  table(
    'app_secrets',
    [
      key(id('id')),
      id('client_id'),
      hash('hash'),
      text('last_four', 4),
      time('created_at'),
      optional(time('expires_at')),
      optional(time('last_used_at')),
    ],
    [
      { name: 'ix_app_secrets_client_id', columnNames: ['client_id'] },
      { name: 'ux_app_secrets_hash', columnNames: ['hash'], isUnique: true },
    ],
  ),
  table(
    'app_redirect_uris',
    [key(id('client_id')), key(smallint('position')), url('uri'), optional(text('origin', 300))],
    [{ name: 'ix_app_redirect_uris_origin', columnNames: ['origin'] }],
  ),
  table(
    'authorizations',
    [
      key(id('id')),
      id('client_id'),
      url('redirect_uri'),
      scope('scope'),
      longText('state'),
      optional(text('code_challenge', 43)),
      optional(text('sign_in_prompt', 14)),
      hash('browser_hash'),
      hash('token_hash'),
      optional(id('user_id')),
      optional(time('answered_at')),
      time('created_at'),
      time('expires_at'),
    ],
    [{ name: 'ix_authorizations_expires_at', columnNames: ['expires_at'] }],
  ),
  table(
    'sign_in_sessions',
    [key(hash('hash')), id('user_id'), time('created_at'), time('expires_at')],
    [{ name: 'ix_sign_in_sessions_expires_at', columnNames: ['expires_at'] }],
  ),
  table(
    'otp_challenges',
    [
      key(id('transaction_id')),
      text('phone', 16),
      optional(id('user_id')),
      hash('code_hash'),
      counter('attempts'),
      time('created_at'),
      time('expires_at'),
      optional(time('consumed_at')),
    ],
    [{ name: 'ix_otp_challenges_expires_at', columnNames: ['expires_at'] }],
  ),
  table(
    'otp_failures',
    [key(text('phone', 16)), counter('failures'), time('last_at'), optional(time('locked_until'))],
    [{ name: 'ix_otp_failures_last_at', columnNames: ['last_at'] }],
  ),
  table(
    'known_browsers',
    [key(hash('browser_hash')), key(text('phone', 16)), time('signed_in_at')],
    [{ name: 'ix_known_browsers_signed_in_at', columnNames: ['signed_in_at'] }],
  ),
  table(
    'grants',
    [
      key(id('id')),
      id('user_id'),
      id('client_id'),
      scope('scope'),
      scope('requested_scope'),
      time('created_at'),
      time('expires_at'),
      optional(time('revoked_at')),
      optional(time('last_used_at')),
    ],
    [
      { name: 'ix_grants_user_id', columnNames: ['user_id', 'client_id'] },
      { name: 'ix_grants_expires_at', columnNames: ['expires_at'] },
      { name: 'ix_grants_revoked_at', columnNames: ['revoked_at'] },
    ],
  ),
  table(
    'authorization_codes',
    [
      key(hash('hash')),
      id('grant_id'),
      url('redirect_uri'),
      optional(text('code_challenge', 43)),
      time('created_at'),
      time('expires_at'),
      optional(time('consumed_at')),
    ],
    [
      {
        name: 'ix_authorization_codes_grant_id',
        columnNames: ['grant_id', 'consumed_at', 'expires_at'],
      },
      { name: 'ix_authorization_codes_consumed_at', columnNames: ['consumed_at', 'expires_at'] },
      { name: 'ix_authorization_codes_code_challenge', columnNames: ['code_challenge'] },
    ],
  ),
  table(
    'access_tokens',
    [
      key(hash('hash')),
      id('grant_id'),
      scope('scope'),
      time('created_at'),
      time('expires_at'),
      optional(time('revoked_at')),
    ],
    [
      { name: 'ix_access_tokens_grant_id', columnNames: ['grant_id'] },
      { name: 'ix_access_tokens_expires_at', columnNames: ['expires_at'] },
    ],
  ),
  table(
    'refresh_tokens',
    [
      key(hash('hash')),
      id('grant_id'),
      time('created_at'),
      time('expires_at'),
      optional(time('consumed_at')),
      optional(hash('predecessor_hash')),
      optional(text('sealed_answer', 700)),
      optional(time('answer_expires_at')),
    ],
    [
      {
        name: 'ix_refresh_tokens_grant_id',
        columnNames: ['grant_id', 'consumed_at', 'expires_at'],
      },
      { name: 'ix_refresh_tokens_consumed_at', columnNames: ['consumed_at', 'expires_at'] },
      { name: 'ix_refresh_tokens_answer_expires_at', columnNames: ['answer_expires_at'] },
    ],
  ),
  table(
    'posts',
    [
      key(id('id')),
      id('user_id'),
      optional(id('client_id')),
      optional(text('title', 300)),
      optional(longText('content')),
      text('type', 32),
      longText('images'),
      longText('tags'),
      optional(double('latitude')),
      optional(double('longitude')),
      optional(text('neighborhood', 200)),
      optional(double('reach_km')),
      text('visibility', 16),
      counter('like_count'),
      counter('comment_count'),
      time('created_at'),
      optional(time('deleted_at')),
    ],
    [{ name: 'ix_posts_user_id', columnNames: ['user_id', 'deleted_at', 'id'] }],
  ),
  table('post_likes', [key(id('post_id')), key(id('user_id')), time('created_at')]),
  table(
    'comments',
    [
      key(id('id')),
      id('post_id'),
      id('user_id'),
      optional(id('parent_id')),
      longText('text'),
      time('created_at'),
      optional(time('deleted_at')),
    ],
    [{ name: 'ix_comments_post_id', columnNames: ['post_id', 'deleted_at', 'id'] }],
  ),
  table('app_quotas', [
    key(id('client_id')),
    text('plan', 32),
    optional(integer('monthly_post_limit')),
  ]),
  table('quota_usage', [key(id('client_id')), key(text('period', 7)), counter('used')]),
  table('api_calls', [
    key(time('at')),
    key(id('id')),
    id('client_id'),
    optional(id('user_id')),
    text('route', 100),
    smallint('status'),
    integer('duration_ms'),
    text('request_id', 64),
    flag('metered'),
  ]),
  table('api_usage_daily', [
    key(text('day', 10)),
    key(id('client_id')),
    key(text('route', 100)),
    key(smallint('status')),
    counter('calls'),
  ]),
  table(
    'idempotency_keys',
    [
      key(hash('hash')),
      id('client_id'),
      id('user_id'),
      hash('request_hash'),
      longText('made'),
      time('created_at'),
      time('expires_at'),
    ],
    [{ name: 'ix_idempotency_keys_expires_at', columnNames: ['expires_at'] }],
  ),
  table(
    'throttle_hits',
    [key(hash('hash')), key(time('slot')), counter('hits')],
    [{ name: 'ix_throttle_hits_slot', columnNames: ['slot'] }],
  ),
  table('audit_events', [
    key(time('at')),
    key(id('id')),
    text('action', 64),
    text('actor', 100),
    text('subject', 100),
    optional(text('reason', 500)),
    optional(text('request_id', 64)),
    optional(text('address', 45)),
    longText('details'),
  ]),
  table('job_runs', [
    key(text('job', 40)),
    key(text('period', 40)),
    time('started_at'),
    optional(time('finished_at')),
  ]),
];

function table(
  name: string,
  columns: TableColumnOptions[],
  indices: TableIndexOptions[] = [],
): Table {
  return new Table({ name, columns, indices });
}
