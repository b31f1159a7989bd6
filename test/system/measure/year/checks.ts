import { addMilliseconds, DAY, floorTo, HOUR, MINUTE } from '../../../../src/platform/clock.js';
import { RETENTION } from './commands.js';
import type { Month, YearTables } from './tables.js';

/** The counts of the reports, by our own statements. */
export class YearChecks {
  constructor(private readonly tables: YearTables) {}

  /** Posts and calls of each app in a month. */
  async ofApps({ from, to }: Month): Promise<Map<string, { posts: number; calls: number }>> {
    const rows = await this.tables.query<{ app: string; posts: string; calls: number }>(
      'SELECT client_id AS app, SUM(metered) AS posts, COUNT(*) AS calls FROM api_calls WHERE at >= ? AND at < ? GROUP BY client_id',
      [from, to],
    );
    return new Map(rows.map(({ app, posts, calls }) => [app, { posts: Number(posts), calls }]));
  }

  /** Calls of real apps in a month by a column or expression of the call log. */
  async callsBy(expression: string, { from, to }: Month): Promise<Record<string, number>> {
    const rows = await this.tables.query<{ name: string; calls: number }>(
      `SELECT ${expression} AS name, COUNT(*) AS calls FROM api_calls
        WHERE at >= ? AND at < ? AND LEFT(client_id, 13) <> 'svc_app_test_' AND ${expression} IS NOT NULL GROUP BY 1`,
      [from, to],
    );
    return Object.fromEntries(rows.map(({ name, calls }) => [name, calls]));
  }

  /** One-time passwords since a time, by result. */
  async passwordsByResult(since: Date): Promise<Record<string, number>> {
    const rows = await this.tables.query<{ result: string; total: string }>(
      'SELECT result, SUM(total) AS total FROM otp_counts WHERE hour >= ? GROUP BY result',
      [since],
    );
    return Object.fromEntries(rows.map(({ result, total }) => [result, Number(total)]));
  }

  /** The rows that a prune must delete at this time, by table. Written from the documentation, without the code of the service. */
  async expired(now: Date): Promise<Record<string, number>> {
    const ago = (ms: number): Date => addMilliseconds(now, -ms);
    const [minute, day, usedMs] = [ago(MINUTE), ago(DAY), ago(31 * DAY)];
    const [quarter, deleted] = [ago(90 * DAY), ago(RETENTION.DELETED_POST_DAYS * DAY + MINUTE)];
    const ended = 'grant_id IN (SELECT id FROM grants WHERE revoked_at <= ? OR expires_at <= ?)';
    const oldPosts = 'post_id IN (SELECT id FROM posts WHERE deleted_at <= ?)';
    const conditions: Record<string, [string, ...unknown[]]> = {
      authorizations: ['expires_at <= ?', minute],
      otp_challenges: ['expires_at <= ?', minute],
      sign_in_sessions: ['expires_at <= ?', minute],
      idempotency_keys: ['expires_at <= ?', minute],
      access_tokens: [`expires_at <= ? OR ${ended}`, minute, minute, minute],
      authorization_codes: [
        `(consumed_at IS NULL AND expires_at <= ?) OR ${ended}`,
        day,
        minute,
        minute,
      ],
      refresh_tokens: [
        `(consumed_at IS NULL AND expires_at <= ?) OR consumed_at <= ? OR ${ended}`,
        day,
        usedMs,
        minute,
        minute,
      ],
      grants: ['revoked_at <= ? OR (expires_at <= ? AND revoked_at IS NULL)', quarter, quarter],
      otp_failures: ['last_at <= ? AND (locked_until IS NULL OR locked_until <= ?)', quarter, now],
      otp_counts: ['hour <= ?', ago(400 * DAY)],
      known_browsers: ['signed_in_at <= ?', ago(400 * DAY)],
      throttle_hits: [
        `(slot > '1970-01-01' AND slot <= ?) OR (slot = '1970-01-01' AND hash NOT IN (SELECT hash FROM throttle_hits WHERE slot > '1970-01-01' AND slot > ?))`,
        ago(2 * DAY),
        ago(2 * DAY),
      ],
      api_calls: ['at < ?', floorTo(ago(RETENTION.CALL_LOG_DAYS * DAY), DAY)],
      audit_events: ['at < ?', ago(RETENTION.AUDIT_LOG_DAYS * DAY)],
      job_runs: ['period < ?', floorTo(quarter, HOUR).toISOString().slice(0, 13)],
      comments: [`deleted_at <= ? OR ${oldPosts}`, deleted, deleted],
      post_likes: [oldPosts, deleted],
      posts: ['deleted_at <= ?', deleted],
    };
    const counts: Record<string, number> = {};
    for (const [table, [condition, ...values]] of Object.entries(conditions))
      counts[table] = await this.tables.count(`${table} WHERE ${condition}`, values);
    return counts;
  }
}
