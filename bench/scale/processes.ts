import { setTimeout as sleep } from 'node:timers/promises';
import type { RowDataPacket } from 'mysql2/promise';
import { Balancer } from './balancer.js';
import { insertApp, insertGrants } from '../access.js';
import { accessToken, CLIENT_ID } from '../credentials.js';
import { autocannonLoad } from '../load/autocannon.js';
import type { LoadRequest } from '../load/requests.js';
import { cpuSeconds, type Program } from '../program.js';
import { startService } from '../programs.js';
import type { BenchServer } from '../server.js';
import { fillUsers } from './fill.js';

const USERS = 100;
const SECONDS = 5;

/** Figures of one or more processes behind a load balancer. */
export interface ProcessFigures {
  processes: number;
  readsPerSecond: number;
  postsPerSecond: number;
  /** CPU time per read in microseconds: of all processes, and of the database server. */
  serviceMicros?: number;
  databaseMicros?: number;
  /** Number of stored posts, and the monthly counter of the app. */
  stored: number;
  counted: number;
  /** Number of processes that reject a token right after one of them revoked it. */
  refusals: number;
}

/** Measures `count` processes behind a load balancer, with one database. */
export async function measureProcesses(
  server: BenchServer,
  count: number,
): Promise<ProcessFigures> {
  const { url, pool } = await server.database(`platform_bench_${count}_processes`);
  await insertApp(pool);
  await insertGrants(pool, await fillUsers(pool, USERS));
  const programs = await Promise.all(Array.from({ length: count }, () => startService(url)));
  const balancer = await Balancer.start(programs.map(({ baseUrl }) => baseUrl));
  try {
    const rate = async (requests: LoadRequest[]): Promise<number> =>
      (await autocannonLoad(balancer.baseUrl, { kind: 'repeated', requests }, SECONDS)).rate;
    await rate(reads());
    const before = [serviceCpuSeconds(programs), cpuSeconds(server.pid)];
    const readRate = await rate(reads());
    const micros = [serviceCpuSeconds(programs), cpuSeconds(server.pid)].map((after, index) =>
      microsPerResponse(before[index], after, readRate * SECONDS),
    );
    const postRate = await rate(posts());
    const refusals = await rejectionsAfterRevocation(programs);
    await Promise.all(programs.map((program) => program.stop()));
    const [[counts]] = await pool.query<RowDataPacket[]>(
      'SELECT (SELECT COUNT(*) FROM posts) AS stored, (SELECT SUM(used) FROM quota_usage) AS counted',
    );
    return {
      processes: count,
      readsPerSecond: readRate,
      postsPerSecond: postRate,
      serviceMicros: micros[0],
      databaseMicros: micros[1],
      stored: Number(counts?.stored),
      counted: Number(counts?.counted),
      refusals,
    };
  } finally {
    await balancer.stop();
    await Promise.all(programs.map((program) => program.stop()));
  }
}

function reads(): LoadRequest[] {
  return Array.from({ length: USERS }, (_, user) => ({
    method: 'GET',
    path: '/dev/v1/me',
    headers: { authorization: `Bearer ${accessToken(user)}` },
  }));
}

function posts(): LoadRequest[] {
  return Array.from({ length: USERS }, (_, user) => ({
    method: 'POST',
    path: '/dev/v1/posts',
    headers: {
      authorization: `Bearer ${accessToken(user)}`,
      'content-type': 'application/json',
    },
    body: '{"content":"Bring a chair and something to share."}',
  }));
}

/** Revokes the token of the first user at one process, then counts the processes that reject it. */
async function rejectionsAfterRevocation(programs: readonly Program[]): Promise<number> {
  const [first] = programs;
  await sleep(100);
  await fetch(`${first?.baseUrl}/oauth/revoke`, {
    method: 'POST',
    body: new URLSearchParams({ token: accessToken(0), client_id: CLIENT_ID }),
  });
  const headers = { authorization: `Bearer ${accessToken(0)}` };
  const responses = await Promise.all(
    programs.map(({ baseUrl }) => fetch(`${baseUrl}/dev/v1/me`, { headers })),
  );
  return responses.filter(({ status }) => status === 401).length;
}

function serviceCpuSeconds(programs: readonly Program[]): number {
  return programs.reduce((sum, { pid }) => sum + (cpuSeconds(pid) ?? 0), 0);
}

function microsPerResponse(
  before: number | undefined,
  after: number | undefined,
  responses: number,
): number | undefined {
  return before === undefined || after === undefined
    ? undefined
    : Math.round(((after - before) * 1e6) / responses);
}
