import { readFileSync } from 'node:fs';
import { insertApp, insertGrants } from '../access.js';
import { accessToken } from '../credentials.js';
import { autocannonLoad } from '../load/autocannon.js';
import type { LoadRequest } from '../load/requests.js';
import { SERVICE, startByName } from '../programs.js';
import type { BenchServer } from '../server.js';
import { fillUsers } from './fill.js';

const USERS = 100;
const SLICES = 10;
const SLICE_SECONDS = 5;

export interface Lean {
  /** From the start of the process to its first 200 of /readyz. */
  readySeconds: number;
  /** Requests so far and resident megabytes, after each slice. */
  memory: { requests: number; megabytes: number }[];
}

/** How soon the service is ready, and what so many requests leave behind in its memory. */
export async function measureLean(server: BenchServer, requests: number): Promise<Lean> {
  const { url, pool } = await server.database('platform_bench_lean');
  await insertApp(pool);
  await insertGrants(pool, await fillUsers(pool, USERS));
  const began = performance.now();
  const program = await startByName(SERVICE, url);
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
      memory.push({ requests: Math.round(sent), megabytes: residentMegabytes(program.pid) });
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
