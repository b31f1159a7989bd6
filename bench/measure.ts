import { setTimeout as sleep } from 'node:timers/promises';
import { autocannonLoad } from './load/autocannon.js';
import type { Measurement, Requests } from './load/requests.js';
import { wrkLoad } from './load/wrk.js';
import { cpuSeconds, type Program } from './program.js';

/** One measurement of one program. */
export interface Round extends Measurement {
  /** CPU time per response in microseconds: of the program, and of the database server if the benchmark started it. */
  programMicros?: number;
  databaseMicros?: number;
}

/** Pause before a measurement, for garbage collection and call-log batches of the previous program. */
const SETTLE_MS = 300;

/**
 * Sends load to a program for `seconds`.
 * @param options.wrk path of wrk. If it is given, wrk sends requests of the kind `repeated`. autocannon sends all others.
 * @param options.status expected of each response; wrk accepts any 2xx
 */
export async function measureRound(
  program: Program,
  requests: Requests,
  seconds: number,
  { wrk, databasePid, status }: { wrk?: string; databasePid?: number; status: number },
): Promise<Round> {
  await sleep(SETTLE_MS);
  const before = [cpuSeconds(program.pid), cpuSeconds(databasePid)];
  const measurement =
    wrk !== undefined && requests.kind === 'repeated'
      ? await wrkLoad(wrk, program.baseUrl, requests.requests, seconds)
      : await autocannonLoad(program.baseUrl, requests, seconds, status);
  const after = [cpuSeconds(program.pid), cpuSeconds(databasePid)];
  const [programMicros, databaseMicros] = after.map((end, index) => {
    const start = before[index];
    return start === undefined || end === undefined
      ? undefined
      : Math.round(((end - start) * 1e6) / measurement.responses);
  });
  return { ...measurement, programMicros, databaseMicros };
}
