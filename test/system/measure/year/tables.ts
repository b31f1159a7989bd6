import type { Pool, RowDataPacket } from 'mysql2/promise';
import { bulkInsert } from '../../../../bench/bulk-insert.js';
import { idOf } from '../../../../bench/scale/fill.js';
import { addMilliseconds } from '../../../../src/platform/clock.js';
import { firstIdAt } from '../../../../src/platform/ids.js';
import { rangeOf } from '../../../../src/modules/quota/quota-period.js';

/** The share of a whole year: members, apps and calls. */
export const SHARE = Number(process.env.YEAR_SHARE ?? 1);
export const USERS = Math.round(100_000 * SHARE);
export const APPS = Math.max(40, Math.round(300 * SHARE));
/** The last apps, which call by HTTP only. */
export const HTTP_APPS = 12;
const CALLS_PER_MONTH = Math.round((20_000_000 * SHARE) / 12);
/** One call in a hundred. */
export const HTTP_CALLS_PER_MONTH = Math.round(CALLS_PER_MONTH / 100);
/** Calls share the time in their id with this many others. */
const CALLS_PER_SLOT = 20;
const SLOTS_PER_MONTH = Math.round((CALLS_PER_MONTH - HTTP_CALLS_PER_MONTH) / CALLS_PER_SLOT);
/** 250,000 calls per statement. */
const SLOTS_PER_BATCH = 12_500;
const GRANTS_PER_MONTH = Math.round(USERS / 5);

/** Of a thousand calls: how many have this route, status and error. */
const ROUTES: readonly (readonly [number, string, number, string | null])[] = [
  [300, 'GET /dev/v1/me', 200, null],
  [250, 'GET /dev/v1/posts', 200, null],
  [150, 'GET /dev/v1/posts/:id', 200, null],
  [100, 'GET /dev/v1/posts/:id/comments', 200, null],
  [50, 'GET /dev/v1/posts/:id/analytics', 200, null],
  [50, 'GET /dev/v1/quota', 200, null],
  [30, 'POST /dev/v1/posts', 201, null],
  [30, 'POST /dev/v1/posts/:id/comments', 201, null],
  [10, 'DELETE /dev/v1/posts/:id', 200, null],
  [10, 'POST /dev/v1/posts', 429, 'quota_exceeded'],
  [10, 'GET /dev/v1/posts/:id', 404, 'not_found'],
  [5, 'GET /dev/v1/posts/:id/analytics', 403, 'insufficient_scope'],
  [5, 'GET /dev/v1/posts', 503, 'service_unavailable'],
];

const SCOPE = 'profile.read posts.read posts.write analytics.read';
/** A number between 0 and 2³² for a text, the same in every run. */
const hash = (...parts: string[]): string => `CRC32(CONCAT(${parts.join(', ')}))`;
const user = (number: string): string => idOf('usr', number);

/** The id of the user with this number. */
export const userId = (number: number): string => `usr_01k${String(number).padStart(23, '0')}`;

export interface Month {
  /** From 0. */
  number: number;
  /** Such as `2026-01`. */
  period: string;
  from: Date;
  to: Date;
}

export const MONTHS: readonly Month[] = Array.from({ length: 12 }, (_, number) => {
  const period = `2026-${String(number + 1).padStart(2, '0')}`;
  return { number, period, ...rangeOf(period) };
});

/** Writes the rows of a year by SQL. Its own tables are in the database `helper`. The pool has one connection. */
export class YearTables {
  private slots = 0;

  constructor(private readonly pool: Pool) {}

  async query<T = Record<string, unknown>>(sql: string, values: unknown[] = []): Promise<T[]> {
    const [rows] = await this.pool.query<RowDataPacket[]>(sql, values);
    return rows as T[];
  }

  /** @param clientIds of all apps that call; the first ones call most */
  async prepare(clientIds: readonly string[]): Promise<void> {
    await this.query('CREATE DATABASE helper');
    await this.query('CREATE TABLE helper.apps (n INTEGER PRIMARY KEY, client_id VARCHAR(40))');
    await this.query(
      'CREATE TABLE helper.routes (n INTEGER PRIMARY KEY, route VARCHAR(100), status INTEGER, error_code VARCHAR(64))',
    );
    await this.query(
      'CREATE TABLE helper.slots (n INTEGER PRIMARY KEY, start DATETIME(3), stamp CHAR(10), KEY (start))',
    );
    const apps = clientIds.map((clientId, number) => [number, clientId]);
    await bulkInsert(this.pool, 'helper.apps', ['n', 'client_id'], apps);
    const routes = ROUTES.flatMap(([number, ...route]) =>
      Array.from({ length: number }, () => route),
    );
    await bulkInsert(
      this.pool,
      'helper.routes',
      ['n', 'route', 'status', 'error_code'],
      routes.map((route, number) => [number, ...route]),
    );
    await this.query(`
      INSERT INTO users (id, status, phone, name, karma, neighborhood, latitude, longitude, post_count, created_at)
      SELECT ${user('seq')}, 'active', CONCAT('+1415', LPAD(2000000 + seq, 7, '0')), CONCAT('Member ', seq), 0, 'Riverside',
        37.77, -122.42, 0, '2025-12-01' FROM seq_0_to_${USERS - 1}`);
  }

  /** @param erased the number of users, from the first one, who no longer exist */
  async fillMonth(month: Month, erased: number): Promise<void> {
    const { from, to } = month;
    const first = this.slots;
    const slotMs = (to.getTime() - from.getTime()) / SLOTS_PER_MONTH;
    const slots = Array.from({ length: SLOTS_PER_MONTH }, (_, number) => {
      const start = addMilliseconds(from, Math.floor(number * slotMs));
      return [first + number, start, firstIdAt('call', start).slice(5, 15)];
    });
    await bulkInsert(this.pool, 'helper.slots', ['n', 'start', 'stamp'], slots);
    this.slots += SLOTS_PER_MONTH;
    const caller = (n: string): string => `${erased} + ${hash("'user'", n)} % ${USERS - erased}`;
    for (let slot = first; slot < this.slots; slot += SLOTS_PER_BATCH) {
      const end = Math.min(this.slots, slot + SLOTS_PER_BATCH);
      await this.fillCalls(slot, end, slotMs, caller);
      await this.fillPosts(slot, end, month);
    }
    await this.countPosts(month);
    await this.fillGrants(month, first, caller);
  }

  private async fillCalls(
    from: number,
    to: number,
    slotMs: number,
    caller: (n: string) => string,
  ): Promise<void> {
    await this.query(`
      INSERT INTO api_calls (at, id, client_id, user_id, route, status, duration_ms, request_id, metered, error_code)
      SELECT c.at, CONCAT('call_', c.suffix), a.client_id, ${user(caller('c.n'))}, r.route, r.status, 1 + c.n % 50,
        CONCAT('req_', c.suffix), r.status = 201 AND r.route = 'POST /dev/v1/posts', r.error_code
      FROM (SELECT s.n * ${CALLS_PER_SLOT} + k.seq AS n, s.start + INTERVAL k.seq * ${Math.floor((slotMs * 1000) / CALLS_PER_SLOT)} MICROSECOND AS at,
          CONCAT(s.stamp, LPAD(s.n * ${CALLS_PER_SLOT} + k.seq, 16, '0')) AS suffix
        FROM helper.slots s JOIN seq_0_to_${CALLS_PER_SLOT - 1} k WHERE s.n >= ${from} AND s.n < ${to}) c
      JOIN helper.routes r ON r.n = ${hash("'route'", 'c.n')} % 1000
      JOIN helper.apps a ON a.n = FLOOR(${APPS - HTTP_APPS} * POW(${hash("'app'", 'c.n')} / 4294967296, 2))`);
  }

  /** The posts and comments of the calls, and a like of each post. One post in 20 is deleted after two days, and one comment in 50. */
  private async fillPosts(from: number, to: number, month: Month): Promise<void> {
    const [range] = await this.query<{ first: string; last: string }>(
      'SELECT MIN(stamp) AS first, MAX(stamp) AS last FROM helper.slots WHERE n >= ? AND n < ?',
      [from, to],
    );
    const within = (prefix: string): string =>
      `id >= '${prefix}_${range?.first}' AND id < '${prefix}_${range?.last}zz'`;
    const [times] = await this.query<{ first: Date; last: Date }>(
      'SELECT MIN(start) AS first, MAX(start) AS last FROM helper.slots WHERE n >= ? AND n < ?',
      [from, to],
    );
    const during = [times?.first, addMilliseconds(times?.last ?? month.to, 60_000)];
    const deletedAt = (share: number, days: number): string =>
      `IF(CRC32(c.id) % ${share} = 0, LEAST(c.at + INTERVAL ${days} DAY, CAST(? AS DATETIME(3)) - INTERVAL 1 SECOND), NULL)`;
    const calls = `FROM api_calls c WHERE c.at >= ? AND c.at < ? AND c.${within('call')}`;
    await this.query(
      `
      INSERT INTO posts (id, user_id, client_id, content, type, images, tags, neighborhood, visibility, like_count, comment_count, created_at, deleted_at)
      SELECT CONCAT('post_', SUBSTR(c.id, 6)), c.user_id, c.client_id, REPEAT('Bring a chair and something to share. ', 5),
        'general', '[]', '["party"]', 'Riverside', 'public', 1, 0, c.at, ${deletedAt(20, 2)} ${calls} AND c.metered`,
      [month.to, ...during],
    );
    await this.query(`
      INSERT INTO post_likes (post_id, user_id, created_at)
      SELECT id, ${user(`${USERS / 2} + CRC32(id) % ${USERS / 2}`)}, created_at FROM posts WHERE ${within('post')}`);
    await this.query(
      `
      INSERT INTO comments (id, post_id, user_id, client_id, text, created_at, deleted_at)
      SELECT CONCAT('cmt_', SUBSTR(c.id, 6)), p.id, c.user_id, c.client_id, 'Count me in!', c.at, ${deletedAt(50, 1)}
      FROM (SELECT c.*, ROW_NUMBER() OVER (ORDER BY c.id) AS n ${calls} AND c.route = 'POST /dev/v1/posts/:id/comments' AND c.status = 201) c
      JOIN (SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS n FROM posts WHERE ${within('post')}) p ON p.n = c.n`,
      [month.to, ...during],
    );
    await this.query(`
      UPDATE posts JOIN (SELECT post_id, COUNT(*) AS n FROM comments WHERE ${within('cmt')} AND deleted_at IS NULL GROUP BY post_id) c
        ON c.post_id = posts.id SET comment_count = comment_count + n`);
    await this.query(
      `
      INSERT INTO idempotency_keys (hash, client_id, user_id, request_hash, made, created_at, expires_at)
      SELECT SHA2(c.id, 256), c.client_id, c.user_id, SHA2(c.route, 256), '{"id":"post_01k00000000000000000000000"}', c.at, c.at + INTERVAL 1 DAY
      ${calls} AND c.metered AND CRC32(c.id) % 2 = 0`,
      during,
    );
  }

  /** The counters of users and quotas. */
  private async countPosts({ from, to, period }: Month): Promise<void> {
    const ids = [firstIdAt('post', from), firstIdAt('post', to)];
    await this.query(
      `UPDATE users JOIN (SELECT user_id, COUNT(*) AS n FROM posts WHERE id >= ? AND id < ? AND deleted_at IS NULL GROUP BY user_id) p
        ON p.user_id = users.id SET post_count = post_count + n`,
      ids,
    );
    await this.query(
      `INSERT INTO quota_usage (client_id, period, used)
        SELECT client_id, ?, COUNT(*) FROM api_calls WHERE at >= ? AND at < ? AND metered GROUP BY client_id`,
      [period, from, to],
    );
  }

  /** The sign-ins, grants, codes, tokens, one-time passwords and audit events of new grants, and the runs of the jobs. */
  private async fillGrants(
    { number, from, to }: Month,
    slot: number,
    caller: (n: string) => string,
  ): Promise<void> {
    await this.query('DROP TABLE IF EXISTS helper.grants');
    await this.query(
      `
      CREATE TABLE helper.grants AS
      SELECT g.n, CONCAT(s.stamp, LPAD(g.n, 16, '0')) AS suffix, s.start, ${user(caller('g.n'))} AS user_id, a.client_id,
        IF(g.n % 10 = 0, LEAST(s.start + INTERVAL 10 DAY, CAST(? AS DATETIME(3)) - INTERVAL 1 SECOND), NULL) AS revoked_at
      FROM (SELECT ${number * GRANTS_PER_MONTH} + seq AS n, ${slot} + FLOOR(seq * ${SLOTS_PER_MONTH / GRANTS_PER_MONTH}) AS slot
        FROM seq_0_to_${GRANTS_PER_MONTH - 1}) g
      JOIN helper.slots s ON s.n = g.slot
      JOIN helper.apps a ON a.n = FLOOR(${APPS - HTTP_APPS} * POW(${hash("'app'", 'g.n')} / 4294967296, 2))`,
      [to],
    );
    const phones = 'helper.grants g JOIN users u ON u.id = g.user_id';
    const statements = [
      `grants (id, user_id, client_id, scope, requested_scope, created_at, expires_at, revoked_at, last_used_at)
        SELECT CONCAT('grt_', suffix), user_id, client_id, '${SCOPE}', '${SCOPE}', start, start + INTERVAL 180 DAY, revoked_at, start FROM helper.grants`,
      `authorization_codes (hash, grant_id, redirect_uri, created_at, expires_at, consumed_at)
        SELECT SHA2(CONCAT('code', n), 256), CONCAT('grt_', suffix), 'https://garden.example/callback', start, start + INTERVAL 5 MINUTE, start + INTERVAL 1 SECOND FROM helper.grants`,
      `access_tokens (hash, grant_id, scope, created_at, expires_at)
        SELECT SHA2(CONCAT('access', n, '-', seq), 256), CONCAT('grt_', suffix), '${SCOPE}', start + INTERVAL seq HOUR, start + INTERVAL seq + 1 HOUR FROM helper.grants JOIN seq_0_to_2`,
      `refresh_tokens (hash, grant_id, created_at, expires_at, consumed_at, predecessor_hash)
        SELECT SHA2(CONCAT('refresh', n, '-', seq), 256), CONCAT('grt_', suffix), start + INTERVAL seq HOUR, start + INTERVAL 720 + seq HOUR,
          IF(seq < 2, start + INTERVAL seq + 1 HOUR, NULL), IF(seq > 0, SHA2(CONCAT('refresh', n, '-', seq - 1), 256), NULL) FROM helper.grants JOIN seq_0_to_2`,
      `authorizations (id, client_id, redirect_uri, scope, state, browser_hash, token_hash, user_id, answered_at, created_at, expires_at)
        SELECT CONCAT('txn_', suffix), client_id, 'https://garden.example/callback', '${SCOPE}', 'state', SHA2(n, 256), '', user_id, start, start, start + INTERVAL 15 MINUTE FROM helper.grants`,
      `sign_in_sessions (hash, user_id, created_at, expires_at)
        SELECT SHA2(CONCAT('session', n), 256), user_id, start, start + INTERVAL 30 MINUTE FROM helper.grants`,
      `otp_challenges (transaction_id, phone, user_id, code_hash, attempts, created_at, expires_at, consumed_at)
        SELECT CONCAT('otp', n), phone, user_id, SHA2(n, 256), 0, start, start + INTERVAL 10 MINUTE, start FROM ${phones}`,
      `known_browsers (browser_hash, phone, signed_in_at, failures)
        SELECT SHA2(CONCAT('browser', n), 256), phone, start, 0 FROM ${phones}`,
      `otp_failures (phone, failures, last_at) SELECT LEFT(SHA2(CONCAT('failure', n), 256), 16), 1, start FROM helper.grants WHERE n % 100 = 0`,
      `otp_counts (hour, country, client_id, result, total)
        SELECT DATE_FORMAT(start, '%Y-%m-%d %H:00:00'), ELT(1 + n % 3, 'US', 'GB', 'ES'), client_id, ELT(1 + seq, 'sent', 'signed_in'), COUNT(*)
        FROM helper.grants JOIN seq_0_to_1 GROUP BY 1, 2, 3, 4`,
      `throttle_hits (hash, slot, hits) SELECT SHA2(CONCAT('limit', n), 256), IF(seq = 0, '1970-01-01', start), 1 FROM helper.grants JOIN seq_0_to_1`,
      `audit_events (at, id, action, actor, subject, client_id, user_id, request_id, address, details)
        SELECT start + INTERVAL seq HOUR, CONCAT('evt_', LEFT(suffix, 25), seq), ELT(1 + seq, 'user.signed_in', 'grant.created', 'token.issued', 'token.refreshed', 'token.refreshed'),
          user_id, CONCAT('grt_', suffix), client_id, user_id, CONCAT('req_', suffix), '203.0.113.7', '{}' FROM helper.grants JOIN seq_0_to_4`,
    ];
    for (const statement of statements) await this.query(`INSERT INTO ${statement}`);
    for (const [job, format, minutes] of [
      ['prune', '%Y-%m-%dT%H', 60],
      ['quota-reset', '%Y-%m-%dT%H', 60],
      ['usage-rollup', '%Y-%m-%dT%H:%i', 10],
    ] as const) {
      const runs = (to.getTime() - from.getTime()) / 60_000 / minutes;
      const time = `CAST(? AS DATETIME(3)) + INTERVAL seq * ${minutes} MINUTE`;
      // The commands of the last month recorded runs, too.
      await this.query(
        `INSERT IGNORE INTO job_runs (job, period, started_at, finished_at)
          SELECT '${job}', DATE_FORMAT(${time}, '${format}'), ${time}, ${time} FROM seq_0_to_${runs - 1}`,
        [from, from, from],
      );
    }
  }

  /** The rows of every table of the service. */
  async rows(): Promise<Record<string, number>> {
    const rows: Record<string, number> = {};
    for (const { name } of await this.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name <> 'migrations' ORDER BY 1`,
    ))
      rows[name] = await this.count(name);
    return rows;
  }

  async count(from: string, values: unknown[] = []): Promise<number> {
    const [row] = await this.query<{ n: number }>(`SELECT COUNT(*) AS n FROM ${from}`, values);
    return Number(row?.n);
  }

  /** Bytes of every table with its indexes. */
  async bytes(): Promise<Record<string, number>> {
    const rows = await this.query<{ name: string; bytes: string }>(
      `SELECT t.table_name AS name, SUM(s.file_size) AS bytes FROM information_schema.tables t
        JOIN information_schema.innodb_sys_tablespaces s ON s.name = CONCAT(t.table_schema, '/', t.table_name)
        WHERE t.table_schema = DATABASE() GROUP BY 1`,
    );
    return Object.fromEntries(rows.map(({ name, bytes }) => [name, Number(bytes)]));
  }
}
