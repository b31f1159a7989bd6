import { createHash } from 'node:crypto';
import type { Pool, RowDataPacket } from 'mysql2/promise';
import { newId } from '../../src/platform/ids.js';

/** What a token was issued for. */
export interface Issue {
  action: 'token.issued' | 'token.refreshed';
  clientId: string;
  userId: string;
  /** The grant, where there is one. */
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
const MOST_FAILURES = 100;

/** Headers of every answer, as the service sends them. */
export const TOKEN_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** What a token endpoint does beside issuing tokens: it refuses who fails too often, and writes down who got what. */
export class TokenDuties {
  constructor(private readonly pool: Pool) {}

  /** Whether this address, or this app from there, failed too often in the last quarter of an hour. One statement. */
  async isThrottled(clientId: string, address: string): Promise<boolean> {
    const since = new Date(Date.now() - WINDOW_MS);
    const keys = [hashOf(`${clientId}|${address}`), hashOf(address)];
    const [rows] = await this.pool.execute<RowDataPacket[]>(FIND_FAILURES, [...keys, since]);
    return rows.some(({ hits }) => Number(hits) >= MOST_FAILURES);
  }

  async record({ action, clientId, userId, subject, requestId, address }: Issue): Promise<void> {
    const at = new Date();
    const event = [at, newId('evt', at), action, clientId, subject, clientId, userId];
    const details = JSON.stringify({ clientId, userId });
    await this.pool.execute(INSERT_EVENT, [...event, requestId, address, details]);
  }
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
