import { createHash } from 'node:crypto';
import type { Pool, RowDataPacket } from 'mysql2/promise';
import { newId } from '../../src/platform/ids.js';

/** The audit event of a token response. */
export interface TokenEvent {
  action: 'token.issued' | 'token.refreshed';
  clientId: string;
  userId: string;
  /** Id of the grant if the peer has grants, else of the user. */
  subject: string;
  requestId: string;
  address: string;
}

const FIND_FAILURES =
  'SELECT hash, SUM(hits) AS hits FROM throttle_hits WHERE hash IN (?, ?) AND slot > ? GROUP BY hash';
const INSERT_EVENT = `
  INSERT INTO audit_events (at, id, action, actor, subject, client_id, user_id, request_id, address, details)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const WINDOW_MS = 900_000;
const MAX_FAILURES = 100;

/**
 * Headers that a peer adds to each response. The service sends the same, plus `Pragma` and the directives `base-uri` and
 * `form-action` of its Content-Security-Policy.
 */
export const TOKEN_RESPONSE_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** What the token endpoint of the service does besides issuing tokens: the limit of failed attempts, and the audit log. */
export class RateLimitAndAudit {
  constructor(private readonly pool: Pool) {}

  /**
   * Whether the address, or the app at this address, has reached the limit of failures in 15 minutes.
   * @param options.clientId may be absent: then only the limit of the address applies
   */
  async isRateLimited({
    address,
    clientId = '',
  }: {
    address: string;
    clientId?: string;
  }): Promise<boolean> {
    const since = new Date(Date.now() - WINDOW_MS);
    const keys = [hashOf(`${clientId}|${address}`), hashOf(address)];
    const [rows] = await this.pool.execute<RowDataPacket[]>(FIND_FAILURES, [...keys, since]);
    return rows.some(({ hits }) => Number(hits) >= MAX_FAILURES);
  }

  /** Writes an audit event. */
  async record({
    action,
    clientId,
    userId,
    subject,
    requestId,
    address,
  }: TokenEvent): Promise<void> {
    const at = new Date();
    const event = [at, newId('evt', at), action, clientId, subject, clientId, userId];
    const details = JSON.stringify({ clientId, userId });
    await this.pool.execute(INSERT_EVENT, [...event, requestId, address, details]);
  }
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
