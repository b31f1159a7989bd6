import { EventEmitter } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { queryObjects } from 'node:v8';

/** Live objects of a process after a full garbage collection. */
export interface Census {
  /** Used heap in MiB. */
  megabytes: number;
  timers: number;
  maps: number;
  emitters: number;
  /** Includes listeners and callbacks. */
  functions: number;
}

/** The file to which a process writes its census. */
export const censusFile = (pid: number): string => join(tmpdir(), `census-${pid}.json`);

/** Counts the live objects of the current process. */
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
  // After `count`, which collects garbage first.
  const megabytes = Math.round((process.memoryUsage().heapUsed / 2 ** 20) * 10) / 10;
  return { megabytes, ...counts };
}

function count(type: new () => object): number {
  return queryObjects(type, { format: 'count' });
}
