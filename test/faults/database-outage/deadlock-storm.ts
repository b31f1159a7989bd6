import { setTimeout as sleep } from 'node:timers/promises';
import mysql, { type Connection } from 'mysql2/promise';
import { RepeatedWork } from '../../support/background.js';
import type { EngineKind } from '../../support/database.js';
import type { Member } from '../../support/member.js';
import { runSql } from '../../support/sql.js';

const DEADLOCK = 1213;
const LOCK_WAIT_TIMEOUT = 1205;
const CLIENT_WAIT_SECONDS = 2;
/** More rows than a transaction of the service writes: the server rolls back the transaction that wrote less. */
const BALLAST_ROWS = 60;
const MAX_HOLD_MS = 5;
const MAX_PAUSE_MS = 5;

/** Locking statements with the values of their placeholders. */
type Locks = readonly (readonly [statement: string, values: (string | string[])[]])[];

/** The locks of the service's transactions in the opposite order. Each comment gives the order of the service. */
export const OPPOSITE_LOCKS = {
  /** The service locks key, post, user, quota. */
  publish: ({ user, client }: Pick<Member, 'user' | 'client'>): Locks => [
    ['SELECT used FROM quota_usage WHERE client_id = ? FOR UPDATE', [client.clientId]],
    ['SELECT id FROM users WHERE id = ? FOR UPDATE', [user.id]],
    ['SELECT hash FROM idempotency_keys WHERE user_id = ? FOR UPDATE', [user.id]],
  ],
  /** The service locks post, user. */
  deletion: ({ user: { id } }: Pick<Member, 'user'>): Locks => [
    ['SELECT id FROM users WHERE id = ? FOR UPDATE', [id]],
    ['SELECT id FROM posts WHERE user_id = ? ORDER BY id DESC LIMIT 20 FOR UPDATE', [id]],
  ],
  /** The service locks post, comment. */
  comment: (postId: string): Locks => [
    ['SELECT id FROM comments WHERE post_id = ? FOR UPDATE', [postId]],
    ['SELECT id FROM posts WHERE id = ? FOR UPDATE', [postId]],
  ],
  /** The service locks comment, post. */
  commentDeletion: (postId: string): Locks => [
    ['SELECT id FROM posts WHERE id = ? FOR UPDATE', [postId]],
    ['SELECT id FROM comments WHERE post_id = ? ORDER BY id DESC LIMIT 20 FOR UPDATE', [postId]],
  ],
  /** The service locks grant, code. */
  exchange: (grantIds: string[]): Locks => [
    ['SELECT hash FROM authorization_codes WHERE grant_id IN (?) FOR UPDATE', [grantIds]],
    ['SELECT id FROM grants WHERE id IN (?) FOR UPDATE', [grantIds]],
  ],
  /** The service locks grant, used token, new tokens. */
  refresh: (grantId: string): Locks => [
    ['SELECT hash FROM access_tokens WHERE grant_id = ? FOR UPDATE', [grantId]],
    ['SELECT hash FROM refresh_tokens WHERE grant_id = ? FOR UPDATE', [grantId]],
    ['SELECT id FROM grants WHERE id = ? FOR UPDATE', [grantId]],
  ],
};

/** Database clients that repeatedly take the locks of the service's transactions in the opposite order. */
export class DeadlockStorm {
  /** Deadlocks in which the server rolled back one of these clients. */
  deadlocks = 0;
  private readonly clients = new RepeatedWork();

  private constructor(
    connections: readonly Connection[],
    private readonly lockSets: readonly Locks[],
  ) {
    onTestFinished(() => {
      for (const connection of connections) connection.destroy();
    });
    for (const [client, connection] of connections.entries())
      this.clients.begin((round) => this.lockOnce(connection, client, round));
  }

  static async begin(
    url: string,
    size: number,
    lockSets: readonly Locks[],
  ): Promise<DeadlockStorm> {
    const connections = await Promise.all(
      Array.from({ length: size }, () => mysql.createConnection(url)),
    );
    const [first] = connections as [Connection];
    for (const connection of connections)
      await connection.query(`SET SESSION innodb_lock_wait_timeout = ${CLIENT_WAIT_SECONDS}`);
    await first.query('CREATE TABLE IF NOT EXISTS ballast (id INTEGER PRIMARY KEY, n INTEGER)');
    const rows = Array.from({ length: size * BALLAST_ROWS }, (_, id) => [id, 0]);
    await first.query('INSERT INTO ballast (id, n) VALUES ?', [rows]);
    return new DeadlockStorm(connections, lockSets);
  }

  /** @throws the first error of a client that is neither a deadlock nor a lock timeout */
  end(): Promise<void> {
    return this.clients.stop();
  }

  private async lockOnce(connection: Connection, client: number, round: number): Promise<void> {
    const locks = this.lockSets[(client + round) % this.lockSets.length] as Locks;
    await connection.beginTransaction();
    try {
      // Writes more than the service in half of the rounds, so that the server rolls back the service in some deadlocks.
      if (Math.random() < 0.5) {
        const from = client * BALLAST_ROWS;
        const ownRows = [from, from + BALLAST_ROWS - 1];
        await connection.query('UPDATE ballast SET n = n + 1 WHERE id BETWEEN ? AND ?', ownRows);
      }
      for (const [statement, values] of locks) {
        await connection.query(statement, values);
        // Gives other transactions time for their first lock.
        await sleep(Math.random() * MAX_HOLD_MS);
      }
    } catch (error) {
      const { errno } = error as { errno?: number };
      if (errno === DEADLOCK) this.deadlocks += 1;
      else if (errno !== LOCK_WAIT_TIMEOUT) throw error;
    } finally {
      await connection.rollback();
    }
    await sleep(Math.random() * MAX_PAUSE_MS);
  }
}

/** Number of deadlocks that the server has detected since it started. */
export async function deadlocksOn(url: string, kind: EngineKind): Promise<number> {
  const [row] = await runSql(
    url,
    kind === 'mariadb'
      ? "SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'"
      : "SELECT COUNT AS Value FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_deadlocks'",
  );
  return Number(row?.Value);
}
