import type { RowDataPacket } from 'mysql2/promise';
import { insertApp, insertGrants } from '../access.js';
import { accessToken } from '../credentials.js';
import { autocannonLoad } from '../load/autocannon.js';
import type { LoadRequest } from '../load/requests.js';
import { startService } from '../programs.js';
import type { BenchServer } from '../server.js';
import { fillUsers } from './fill.js';

const APPS = 100;
const SECONDS = 5;
const ROUNDS = 3;

export interface HotApp {
  /** Posts per second in each round: of one app (`one`), and of a hundred apps together (`hundred`). */
  one: number[];
  hundred: number[];
  /** Number of stored posts, and the sum of the monthly counters. */
  posts: number;
  counted: number;
}

/** Compares the publishing rate of one app with that of a hundred apps. */
export async function measureHotApp(server: BenchServer): Promise<HotApp> {
  const { url, pool } = await server.database('platform_bench_hot');
  const userIds = await fillUsers(pool, 2 * APPS);
  // The first hundred users use the busy app, number 0. Each of the others uses an app of its own.
  const clientOf = (user: number): string =>
    user < APPS ? clientId(0) : clientId(user - APPS + 1);
  for (let app = 0; app <= APPS; app += 1) await insertApp(pool, clientId(app));
  await insertGrants(pool, userIds, clientOf);
  const program = await startService(url);
  try {
    const rate = async (firstUser: number): Promise<number> => {
      const requests = Array.from({ length: APPS }, (_, user) => publish(firstUser + user));
      return (await autocannonLoad(program.baseUrl, { kind: 'repeated', requests }, SECONDS)).rate;
    };
    const one: number[] = [];
    const hundred: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      one.push(await rate(0));
      hundred.push(await rate(APPS));
    }
    // The program finishes open requests first, so that both counts are final.
    await program.stop();
    const [[counts]] = await pool.query<RowDataPacket[]>(
      'SELECT (SELECT COUNT(*) FROM posts) AS posts, (SELECT SUM(used) FROM quota_usage) AS counted',
    );
    return { one, hundred, posts: Number(counts?.posts), counted: Number(counts?.counted) };
  } finally {
    await program.stop();
  }
}

function clientId(app: number): string {
  return `svc_app_01kb${String(app).padStart(22, '0')}`;
}

function publish(user: number): LoadRequest {
  return {
    method: 'POST',
    path: '/dev/v1/posts',
    headers: {
      authorization: `Bearer ${accessToken(user)}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ content: 'Bring a chair and something to share.' }),
  };
}
