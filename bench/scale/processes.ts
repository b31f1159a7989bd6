import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RowDataPacket } from 'mysql2/promise';
import { Balancer } from './balancer.js';
import { insertApp, insertGrants } from '../access.js';
import { accessToken, CLIENT_ID } from '../credentials.js';
import { autocannonLoad } from '../load/autocannon.js';
import type { LoadRequest, Requests } from '../load/requests.js';
import { cpuSeconds, type Program } from '../program.js';
import { startService } from '../programs.js';
import type { BenchServer } from '../server.js';
import { fillUsers } from './fill.js';

const USERS = 100;
const SECONDS = 5;

/** Throughput and CPU time of one workload. */
export interface ProcessLoad {
  perSecond: number;
  /** CPU time per response in microseconds: of all processes, and of the database server. */
  serviceMicros?: number;
  databaseMicros?: number;
}

/** Figures of one or more processes behind a load balancer. */
export interface ProcessFigures {
  processes: number;
  /** `GET /dev/v1/me` */
  reads: ProcessLoad;
  /** `POST /dev/v1/posts`, each with a new `Idempotency-Key` */
  posts: ProcessLoad;
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
    const measure = async (requests: Requests): Promise<ProcessLoad> => {
      // A process gets 1/count of the load, and is warm after the same number of requests.
      await autocannonLoad(balancer.baseUrl, requests, SECONDS * count);
      const before = [serviceCpuSeconds(programs), cpuSeconds(server.pid)];
      const { rate, responses } = await autocannonLoad(balancer.baseUrl, requests, SECONDS);
      const [serviceMicros, databaseMicros] = [
        serviceCpuSeconds(programs),
        cpuSeconds(server.pid),
      ].map((after, index) => microsPerResponse(before[index], after, responses));
      return { perSecond: rate, serviceMicros, databaseMicros };
    };
    const readLoad = await measure({ kind: 'repeated', requests: reads() });
    const postLoad = await measure({ kind: 'once', next: keyedPost });
    const refusals = await rejectionsAfterRevocation(programs);
    await Promise.all(programs.map((program) => program.stop()));
    const [[counts]] = await pool.query<RowDataPacket[]>(
      'SELECT (SELECT COUNT(*) FROM posts) AS stored, (SELECT SUM(used) FROM quota_usage) AS counted',
    );
    return {
      processes: count,
      reads: readLoad,
      posts: postLoad,
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

function keyedPost(): LoadRequest {
  return {
    method: 'POST',
    path: '/dev/v1/posts',
    headers: {
      authorization: `Bearer ${accessToken(randomInt(USERS))}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: '{"content":"Bring a chair and something to share."}',
  };
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
