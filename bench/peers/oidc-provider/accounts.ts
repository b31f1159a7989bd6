import type { Pool, RowDataPacket } from 'mysql2/promise';
import type { FindAccount } from 'oidc-provider';

interface ActiveUser extends RowDataPacket {
  id: string;
  name: string;
}

const ACTIVE_USER = "SELECT id, name FROM users WHERE id = ? AND status = 'active'";

/** Finds only active users, so that blocked users get no tokens. */
export function accountsIn(pool: Pool): FindAccount {
  return async (_context, id) => {
    const [[user]] = await pool.execute<ActiveUser[]>(ACTIVE_USER, [id]);
    if (!user) return undefined;
    return { accountId: user.id, claims: () => ({ sub: user.id, name: user.name }) };
  };
}
