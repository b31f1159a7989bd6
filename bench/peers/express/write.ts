import type { Request } from 'express';
import type { Pool, PoolConnection } from 'mysql2/promise';

/** The fields that the server adds to a new post or comment. `createdAt` is ISO 8601 in UTC. */
export interface Added {
  id: string;
  createdAt: string;
}

/**
 * Runs the statements that add a post or comment in a transaction.
 * @returns `added`, or what an earlier request with the same idempotency key added
 */
export type Write = (
  pool: Pool,
  request: Request,
  added: Added,
  statements: (connection: PoolConnection) => Promise<void>,
) => Promise<Added>;
