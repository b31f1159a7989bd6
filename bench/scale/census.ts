import { EventEmitter } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { queryObjects } from 'node:v8';

/** What is alive in a process after a full garbage collection. */
export interface Census {
  /** Of the heap, of 2²⁰ bytes. */
  megabytes: number;
  timers: number;
  maps: number;
  emitters: number;
  /** Listeners and callbacks are among them. */
  functions: number;
}

/** Where a process that counted itself tells its figures. */
export const censusFile = (pid: number): string => join(tmpdir(), `census-${pid}.json`);

/** Counts the process that it is called in. */
export function takeCensus(): Census {
  const timer = setTimeout(() => undefined, 0);
  const Timeout = timer.constructor as new () => NodeJS.Timeout;
  clearTimeout(timer);
  const counts = {
    timers: count(Timeout),
    maps: count(Map),
    emitters: count(EventEmitter),
    functions: count(Function),
  };
  const megabytes = Math.round((process.memoryUsage().heapUsed / 2 ** 20) * 10) / 10;
  return { megabytes, ...counts };
}

function count(type: new () => object): number {
  return queryObjects(type, { format: 'count' });
}
