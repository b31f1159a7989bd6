import { promisify } from 'node:util';
import type { Pool, PoolConnection, RowDataPacket } from 'mysql2';
import { isReadOnly } from '../common/database-faults.js';
import { limited } from '../common/time-limit.js';
import { takingFrom } from './connection-wait.js';
import { aroundSending, streamOf } from './sending.js';
import type { ServerGroup } from './server-group.js';

/** MariaDB's newer versions answer in words. */
const TAKES_WRITES = `SELECT CONCAT(@@global.read_only) IN ('0', 'OFF') AS takes_writes`;

/**
 * Makes a pool give out connections to the server of a group that takes writes, and end those to one that no longer does.
 * @param waitMs milliseconds: whoever has waited so long, for all servers together, begins with no other
 */
export function toPrimary(pool: Pool, group: ServerGroup, waitMs: number): void {
  const take = promisify(takingFrom(pool));

  async function connection(): Promise<PoolConnection> {
    const until = performance.now() + waitMs;
    let others = group.size - 1;
    const isLast = (): boolean => others === 0 || performance.now() >= until;
    for (;;) {
      const { turn } = group;
      const taken = await take(until - performance.now()).catch((error: unknown) => {
        if (isLast() || group.turn === turn) throw error;
      });
      if (taken !== undefined) {
        const stream = streamOf(taken);
        if (group.isKept(stream)) return taken;
        if (group.isDeserted(stream)) {
          taken.destroy();
          continue;
        }
        // Of the server, however long whoever asks for it has waited.
        const isPrimary = await limited(() => takesWrites(taken)).catch(() => false);
        if (isPrimary) {
          group.keep(stream);
          return taken;
        }
        group.leave(stream);
        taken.destroy();
      }
      if (isLast()) throw noPrimary();
      others -= 1;
    }
  }

  pool.getConnection = (taker) => {
    const refuse = taker as (error: unknown) => void;
    void connection().then((taken) => taker(null, taken), refuse);
  };
  pool.on('connection', (taken) => endOnceRefused(taken, group));
}

async function takesWrites(connection: PoolConnection): Promise<boolean> {
  const [[row]] = await connection.promise().query<RowDataPacket[]>(TAKES_WRITES);
  return Number(row?.takes_writes) === 1;
}

type Answered = (error: NodeJS.ErrnoException | null, ...more: unknown[]) => void;

/** A connection whose server became a replica would be as good as before for all that only reads. */
function endOnceRefused(connection: PoolConnection, group: ServerGroup): void {
  aroundSending(connection, (send) => (statement, ...more) => {
    const answered = more.at(-1);
    if (typeof answered !== 'function') return send(statement, ...more);
    const watching: Answered = (error, ...answer) => {
      if (isReadOnly(error)) {
        group.desert(streamOf(connection));
        connection.release = () => connection.destroy();
      }
      (answered as Answered)(error, ...answer);
    };
    return send(statement, ...more.slice(0, -1), watching);
  });
}

function noPrimary(): NodeJS.ErrnoException {
  const error = new Error('None of the servers of DATABASE_URL takes writes.');
  return Object.assign(error, { code: 'ER_OPTION_PREVENTS_STATEMENT' });
}
