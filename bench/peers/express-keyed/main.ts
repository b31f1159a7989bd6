/*
 * The peer `express` with idempotency keys: the same as those of the service.
 */

import { createHash } from 'node:crypto';
import type { RowDataPacket } from 'mysql2/promise';
import { serve } from '../express/api.js';
import { HttpError } from '../express/authenticate.js';
import { inTransaction } from '../express/database.js';
import type { Added, Write } from '../express/write.js';

const INSERT_KEY = `
  INSERT INTO idempotency_keys (hash, client_id, user_id, request_hash, made, created_at, expires_at)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
const FIND_KEY = 'SELECT request_hash AS requestHash, made FROM idempotency_keys WHERE hash = ?';
const LIFETIME_MS = 86_400_000;

/** The key is inserted first, so that a concurrent request with the same key waits before it writes anything. */
const writeOnce: Write = async (pool, request, added, statements) => {
  const key = request.get('idempotency-key');
  if (key === undefined) {
    await inTransaction(pool, statements);
    return added;
  }
  const { clientId, userId } = request.access;
  const hash = sha256(`${clientId}\n${userId}\n${key}`);
  const requestHash = sha256(`${request.originalUrl}\n${JSON.stringify(request.body)}`);
  const now = new Date();
  const expires = new Date(now.getTime() + LIFETIME_MS);
  const row = [hash, clientId, userId, requestHash, JSON.stringify(added), now, expires];
  try {
    await inTransaction(pool, async (connection) => {
      await connection.execute(INSERT_KEY, row);
      await statements(connection);
    });
    return added;
  } catch (error) {
    if ((error as { code?: string }).code !== 'ER_DUP_ENTRY') throw error;
    const [[earlier]] = await pool.execute<RowDataPacket[]>(FIND_KEY, [hash]);
    if (!earlier) throw new HttpError(409, 'idempotency_key_in_use');
    if (earlier.requestHash !== requestHash) throw new HttpError(422, 'idempotency_key_reused');
    request.res?.set('Idempotency-Replayed', 'true');
    return JSON.parse(String(earlier.made)) as Added;
  }
};

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

serve(writeOnce);
