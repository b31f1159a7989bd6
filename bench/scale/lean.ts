import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { insertApp, insertGrants } from '../access.js';
import { accessToken } from '../credentials.js';
import { autocannonLoad } from '../load/autocannon.js';
import type { LoadRequest } from '../load/requests.js';
import { startService } from '../programs.js';
import type { BenchServer } from '../server.js';
import { censusFile, type Census } from './census.js';
import { fillUsers } from './fill.js';

const STARTS = 5;
const USERS = 100;
/** Number of parts of about equal size in which the requests are sent. */
const SLICES = 10;
const SLICE_SECONDS = 5;
/** Time after the load to close connections and write the call log. */
const SETTLE_MS = 2000;
const CENSUS_TIMEOUT_MS = 30_000;
const REPORT_CENSUS = './bench/dist/bench/scale/report-census.js';

export interface Lean {
  /** Time of each start until /readyz returns 200. */
  readySeconds: number[];
  /** The state of one process after each slice of the requests. */
  memory: Slice[];
  /**
   * The state of another process after its first slice. It takes the census for comparison, because a census adds resident
   * memory.
   */
  first: Slice;
}

/** The state of a process after a slice of the requests. */
export interface Slice {
  /** Requests since the start of the process. */
  requests: number;
  /** Resident memory in MiB at the end of the load. */
  megabytes: number;
  /** Only of the last slice. */
  alive?: Census;
}

/** Measures the start time, and the memory after many requests. */
export async function measureLean(server: BenchServer, requests: number): Promise<Lean> {
  const { url, pool } = await server.database('platform_bench_lean');
  await insertApp(pool);
  await insertGrants(pool, await fillUsers(pool, USERS));
  const readySeconds: number[] = [];
  for (let start = 0; start < STARTS; start += 1) readySeconds.push(await secondsToReady(url));
  const [first] = await memoryOf(url, { requests: requests / SLICES, slices: 1 });
  if (!first) throw new Error('Nothing was measured.');
  return { readySeconds, first, memory: await memoryOf(url, { requests, slices: SLICES }) };
}

async function secondsToReady(url: string): Promise<number> {
  const began = performance.now();
  const program = await startService(url);
  try {
    const ready = await fetch(`${program.baseUrl}/readyz`);
    if (!ready.ok) throw new Error(`/readyz returned ${ready.status}.`);
    return (performance.now() - began) / 1000;
  } finally {
    await program.stop();
  }
}

async function memoryOf(
  url: string,
  { requests, slices }: { requests: number; slices: number },
): Promise<Slice[]> {
  const program = await startService(url, { nodeOptions: ['--import', REPORT_CENSUS] });
  try {
    const memory: Slice[] = [];
    let sent = 0;
    while (sent < requests) {
      const until = Math.min(requests, ((memory.length + 1) * requests) / slices);
      while (sent < until) {
        const load = { kind: 'repeated', requests: mixedRequests() } as const;
        sent += (await autocannonLoad(program.baseUrl, load, SLICE_SECONDS)).responses;
      }
      memory.push({ requests: Math.round(sent), megabytes: residentMegabytes(program.pid) });
    }
    await sleep(SETTLE_MS);
    const last = memory.at(-1);
    if (last) last.alive = await censusOf(program.pid);
    return memory;
  } finally {
    await program.stop();
  }
}

/** 90 % reads and 10 % publishes. */
function mixedRequests(): LoadRequest[] {
  return Array.from({ length: USERS }, (_, user) => {
    const headers = { authorization: `Bearer ${accessToken(user)}` };
    if (user % 10 === 0) {
      const json = { ...headers, 'content-type': 'application/json' };
      return { method: 'POST', path: '/dev/v1/posts', headers: json, body: '{"content":"Hello"}' };
    }
    const path = user % 2 === 0 ? '/dev/v1/me' : '/dev/v1/posts?limit=20';
    return { method: 'GET', path, headers };
  });
}

function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024);
}

async function censusOf(pid: number): Promise<Census> {
  const file = censusFile(pid);
  rmSync(file, { force: true });
  const deadline = Date.now() + CENSUS_TIMEOUT_MS;
  process.kill(pid, 'SIGUSR2');
  while (!existsSync(file)) {
    if (Date.now() > deadline) throw new Error('The process did not write its census.');
    await sleep(50);
  }
  const census = JSON.parse(readFileSync(file, 'utf8')) as Census;
  rmSync(file);
  return census;
}
