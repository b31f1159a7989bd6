import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { insertApp, insertGrants } from '../access.js';
import { accessToken } from '../credentials.js';
import { autocannonLoad } from '../load/autocannon.js';
import type { LoadRequest } from '../load/requests.js';
import { SERVICE, startByName } from '../programs.js';
import type { BenchServer } from '../server.js';
import { censusFile, type Census } from './census.js';
import { fillUsers } from './fill.js';

const USERS = 100;
const SLICES = 10;
const SLICE_SECONDS = 5;
/** After the load: until connections are closed, and the call log is written. */
const REST_MS = 2000;
const CENSUS_MS = 30_000;

export interface Lean {
  /** From the start of the process to its first 200 of /readyz. */
  readySeconds: number;
  /** After each slice. */
  memory: Slice[];
}

/** What so many requests left behind. */
export interface Slice {
  requests: number;
  /** Resident at the end of the load. Each census collects everything, so this shows what the slice itself added. */
  megabytes: number;
  alive: Census;
}

/** How soon the service is ready, and what so many requests leave behind in its memory. */
export async function measureLean(server: BenchServer, requests: number): Promise<Lean> {
  const { url, pool } = await server.database('platform_bench_lean');
  await insertApp(pool);
  await insertGrants(pool, await fillUsers(pool, USERS));
  const began = performance.now();
  const program = await startByName(SERVICE, url, [
    '--import',
    './dist/bench/scale/tell-census.js',
  ]);
  try {
    const ready = await fetch(`${program.baseUrl}/readyz`);
    if (!ready.ok) throw new Error(`/readyz answered ${ready.status}.`);
    const readySeconds = (performance.now() - began) / 1000;
    const memory: Lean['memory'] = [];
    let sent = 0;
    const slice = requests / SLICES;
    while (sent < requests) {
      const until = Math.min(requests, (memory.length + 1) * slice);
      while (sent < until) {
        const load = { kind: 'repeated', requests: mixed() } as const;
        sent += (await autocannonLoad(program.baseUrl, load, SLICE_SECONDS)).rate * SLICE_SECONDS;
      }
      const megabytes = residentMegabytes(program.pid);
      await sleep(REST_MS);
      const alive = await censusOf(program.pid);
      memory.push({ requests: Math.round(sent), megabytes, alive });
    }
    return { readySeconds, memory };
  } finally {
    await program.stop();
  }
}

/** Reads, for the most part, and some posts. */
function mixed(): LoadRequest[] {
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
  const deadline = Date.now() + CENSUS_MS;
  process.kill(pid, 'SIGUSR2');
  while (!existsSync(file)) {
    if (Date.now() > deadline) throw new Error('The process did not count itself.');
    await sleep(50);
  }
  const census = JSON.parse(readFileSync(file, 'utf8')) as Census;
  rmSync(file);
  return census;
}
