import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import { isConflict, isLockWait } from '../common/database-faults.js';
import { RELEASES } from './releases.js';

const ATTEMPTS = 10;
const LONGEST_PAUSE_MS = 500;

/**
 * What the slower of two processes is told that change the schema at once. MariaDB does not list a table while another process
 * alters it.
 */
const OVERTAKEN =
  /already exists|does(n't| not) exist|can't drop|duplicate (column|key) name|database is locked|definition has changed/i;

/** Changes nothing, but takes the lock of a row that is there from the first migration on; on SQLite, that of all writers. */
const TAKE_TURN = `UPDATE migrations SET name = name WHERE name = '${RELEASES['1.0.0']}'`;

/**
 * Starts over while another process is in the way, which changes the schema or writes.
 * @throws what `work` throws otherwise, or in the end
 */
export async function despiteOthers<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isOvertaken(error) || attempt === ATTEMPTS) throw error;
      await sleep(Math.random() * LONGEST_PAUSE_MS);
    }
  }
}

/**
 * Runs `work` while no other process changes the schema, so that none undoes what another does. `holder` is in a transaction that
 * commits after it. On SQLite that is the transaction of everything, which writes first: one that reads first is refused when
 * another process has written since. On a server a step ends the transaction of its own connection, so `work` needs another one.
 */
export async function exclusively<T>(
  dataSource: DataSource,
  work: (holder: QueryRunner) => Promise<T>,
): Promise<T> {
  const holder = dataSource.createQueryRunner();
  try {
    while (!(await hasTurn(holder))) await holder.rollbackTransaction();
    const done = await work(holder);
    await holder.commitTransaction();
    return done;
  } catch (error) {
    // One that fails as well, such as on a connection that is lost, is not what anybody needs to know.
    if (holder.isTransactionActive) await holder.rollbackTransaction().catch(() => undefined);
    throw error;
  } finally {
    await holder.release();
  }
}

/** False when another process still has it, who may have a large table to change. */
async function hasTurn(holder: QueryRunner): Promise<boolean> {
  await holder.startTransaction();
  try {
    await holder.query(TAKE_TURN);
    return true;
  } catch (error) {
    if (isLockWait(error)) return false;
    throw error;
  }
}

function isOvertaken(error: unknown): boolean {
  return isConflict(error) || (error instanceof Error && OVERTAKEN.test(error.message));
}
