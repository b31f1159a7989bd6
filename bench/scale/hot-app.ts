import type { RowDataPacket } from 'mysql2/promise';
import { insertApp, insertGrants } from '../access.js';
import { accessToken } from '../credentials.js';
import { autocannonLoad } from '../load/autocannon.js';
import type { LoadRequest } from '../load/requests.js';
import { SERVICE, startByName } from '../programs.js';
import type { BenchServer } from '../server.js';
import { fillUsers } from './fill.js';

const APPS = 100;
const SECONDS = 5;
const TURNS = 3;

export interface HotApp {
  /** Posts a second, of each turn: of one app, and of a hundred together. */
  one: number[];
  hundred: number[];
  /** How many posts there are, and how many the apps' months count. */
  posts: number;
  counted: number;
}

/** One app publishes as fast as it can, and then a hundred apps together. */
export async function measureHotApp(server: BenchServer): Promise<HotApp> {
  const { url, pool } = await server.database('platform_bench_hot');
  const userIds = await fillUsers(pool, 2 * APPS);
  const appOf = (number: number): string =>
    number < APPS ? clientId(0) : clientId(number - APPS + 1);
  for (let app = 0; app <= APPS; app += 1) await insertApp(pool, clientId(app));
  await insertGrants(pool, userIds, appOf);
  const program = await startByName(SERVICE, url);
  try {
    const rate = async (from: number): Promise<number> => {
      const requests = Array.from({ length: APPS }, (_, user) => publish(from + user));
      return (await autocannonLoad(program.baseUrl, { kind: 'repeated', requests }, SECONDS)).rate;
    };
    const one: number[] = [];
    const hundred: number[] = [];
    for (let turn = 0; turn < TURNS; turn += 1) {
      one.push(await rate(0));
      hundred.push(await rate(APPS));
    }
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
