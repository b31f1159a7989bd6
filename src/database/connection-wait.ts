import type { Pool } from 'mysql2';
import { beginWaiting, sameLimit } from '../common/time-limit.js';
import { timedOut } from './timed-out.js';

type Taker = Parameters<Pool['getConnection']>[0];

/** The queue of those who wait for a connection; missing in the pool's types. */
interface WaitingQueue {
  readonly length: number;
  get(index: number): Taker;
  removeOne(index: number): void;
}

/**
 * Takes connections of a pool, in whose own queue one waits without end. Whoever stops waiting, after so many milliseconds, leaves
 * it, or gives the connection back when it comes, if it was on its way already.
 */
export function takingFrom(pool: Pool): (waitMs: number, taker: Taker) => void {
  const take = pool.getConnection.bind(pool);
  return (waitMs, taker) => {
    // Whoever gives a connection back would run it otherwise, as part of another request.
    const callback = sameLimit(taker);
    const end = beginWaiting();
    let isWaiting = true;
    const waiter: Taker = (error, connection) => {
      clearTimeout(timer);
      end();
      if (isWaiting) callback(error, connection);
      else if (error === null) connection.release();
    };
    const timer = setTimeout(() => {
      isWaiting = false;
      end();
      leaveQueue(pool, waiter);
      const refuse = callback as (error: Error) => void;
      refuse(timedOut('No connection to the database came free in time.'));
    }, waitMs);
    take(waiter);
  };
}

function leaveQueue(pool: Pool, waiter: Taker): void {
  const { _connectionQueue: queue } = pool as Pool & { _connectionQueue: WaitingQueue };
  for (let index = 0; index < queue.length; index += 1)
    if (queue.get(index) === waiter) return queue.removeOne(index);
}
