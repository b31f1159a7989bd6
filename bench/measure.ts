import { setTimeout as sleep } from 'node:timers/promises';
import { autocannonLoad } from './load/autocannon.js';
import type { Measurement, Requests } from './load/requests.js';
import { wrkLoad } from './load/wrk.js';
import { processorSeconds, type Program } from './program.js';

/** One round of one program. */
export interface Round extends Measurement {
  /** Microseconds of processor time for each answer: of the program, and of the database server where it is ours. */
  programMicros?: number;
  databaseMicros?: number;
}

/** Of what a garbage collection or the batch of a call log of the program before leaves behind. */
const REST_MS = 300;

/** Sends load for so many seconds. With `wrk`, its path, by that where it can. */
export async function measureRound(
  program: Program,
  requests: Requests,
  seconds: number,
  { wrk, databasePid }: { wrk?: string; databasePid?: number },
): Promise<Round> {
  await sleep(REST_MS);
  const before = [processorSeconds(program.pid), processorSeconds(databasePid)];
  const measurement =
    wrk !== undefined && requests.kind === 'repeated'
      ? await wrkLoad(wrk, program.baseUrl, requests.requests, seconds)
      : await autocannonLoad(program.baseUrl, requests, seconds);
  const after = [processorSeconds(program.pid), processorSeconds(databasePid)];
  const answers = measurement.rate * seconds;
  const [programMicros, databaseMicros] = after.map((time, at) => {
    const begin = before[at];
    return time === undefined || begin === undefined
      ? undefined
      : Math.round(((time - begin) * 1e6) / answers);
  });
  return { ...measurement, programMicros, databaseMicros };
}
