import mysql, { type Pool, type PoolConnection } from 'mysql2/promise';
import type { PeerSettings } from '../settings.js';

export function createPool({ databaseUrl, poolSize }: PeerSettings): Pool {
  return mysql.createPool({ uri: databaseUrl, connectionLimit: poolSize, timezone: 'Z' });
}

/** Rolls back if `work` throws. */
export async function inTransaction<T>(
  pool: Pool,
  work: (connection: PoolConnection) => Promise<T>,
): Promise<T> {
  const connection = await pool.getConnection();
  try {
    await connection.beginTransaction();
    const result = await work(connection);
    await connection.commit();
    return result;
  } catch (error) {
    await connection.rollback();
    throw error;
  } finally {
    connection.release();
  }
}
