import { randomInt, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, RowDataPacket } from 'mysql2/promise';
import { insertApp, insertGrants } from '../access.js';
import { accessToken } from '../credentials.js';
import { autocannonLoad } from '../load/autocannon.js';
import type { LoadRequest, Requests } from '../load/requests.js';
import { cpuSeconds } from '../program.js';
import { startService } from '../programs.js';
import { median } from '../results.js';
import type { BenchServer } from '../server.js';
import { fillUsers, idOf } from './fill.js';

/** Apps with an endpoint. */
const ENDPOINTS = 50;
/** Members of the app whose requests cause events. Each has one post. */
const MEMBERS = 100;
const DUE = 100_000;
/** Due events beside the delivered ones. */
const DUE_IN_LARGE_TABLE = 20_000;
const ROWS_PER_STATEMENT = 250_000;
const SECONDS = 5;
const ROUNDS = 5;
/** Longer than a process remembers which apps have endpoints. */
const NOTICE_MS = 6000;

export interface Drain {
  /** Events that were delivered before, and remain for 30 days. */
  delivered: number;
  due: number;
  perSecond: number;
  /** Per delivery. */
  serviceMicros?: number;
  databaseMicros?: number;
}

export interface Cost {
  /** Which endpoints exist. */
  endpoints: string;
  postsPerSecond: number;
  commentsPerSecond: number;
}

export interface EventFigures {
  drains: Drain[];
  costs: Cost[];
  /** Latency of `GET /dev/v1/me` in milliseconds, without and beside the delivery of due events. */
  reads: { beside: string; p50: number; p99: number; perSecond: number }[];
}

/** Measures the delivery of events, and what they cost the requests that cause them. @param delivered rows of the large table */
export async function measureEvents(server: BenchServer, delivered: number): Promise<EventFigures> {
  const receiver = await Receiver.start();
  try {
    const { drains, reads } = await measureDrains(server, receiver, delivered);
    return { drains, reads, costs: await measureCosts(server, receiver) };
  } finally {
    await receiver.stop();
  }
}

/** Counts the deliveries to all endpoints. */
class Receiver {
  received = 0;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server);
    server.on('request', (request, response) => {
      request.resume().once('end', () => {
        receiver.received += 1;
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/events`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => {
      this.server.close(resolve);
    });
  }
}

/** Endpoints on loopback are allowed outside of production only. */
const DEVELOPMENT = { NODE_ENV: 'development', DEMO: '0' };

const clientId = (app: number): string => `svc_app_01kb${String(app).padStart(22, '0')}`;
const clientOf = (number: string): string =>
  `CONCAT('svc_app_01kb', LPAD(${number} % ${ENDPOINTS}, 22, '0'))`;
const memberOf = (number: string): string => `${number} % ${ENDPOINTS}`;
const postId = (member: number): string => `post_01k${String(member).padStart(23, '0')}`;

async function measureDrains(
  server: BenchServer,
  receiver: Receiver,
  delivered: number,
): Promise<Pick<EventFigures, 'drains' | 'reads'>> {
  const { url, pool } = await server.database('platform_bench_events');
  await fillMembers(pool, receiver, ENDPOINTS, clientId);
  await insertComments(pool, DUE);
  const program = await startService(url, { env: DEVELOPMENT });
  try {
    const drain = async (existing: number, due: number, first: number): Promise<Drain> => {
      const before = [cpuSeconds(program.pid), cpuSeconds(server.pid)];
      receiver.received = 0;
      await insertEvents(pool, first, due, true);
      const startedAt = performance.now();
      while (receiver.received < due) await sleep(50);
      const perSecond = due / ((performance.now() - startedAt) / 1000);
      const after = [cpuSeconds(program.pid), cpuSeconds(server.pid)];
      const [serviceMicros, databaseMicros] = after.map((end, index) =>
        Math.round((((end ?? 0) - (before[index] ?? 0)) * 1e6) / due),
      );
      return { delivered: existing, due, perSecond, serviceMicros, databaseMicros };
    };
    const drains = [await drain(0, DUE, 0)];
    const reads = [await readsBeside('nothing', program.baseUrl)];
    await insertEvents(pool, DUE, DUE, true);
    reads.push(await readsBeside('the delivery of events', program.baseUrl));
    while ((await countDue(pool)) > 0) await sleep(200);
    await insertEvents(pool, 2 * DUE, delivered, false);
    await pool.query('ANALYZE TABLE webhook_events');
    drains.push(await drain(delivered, DUE_IN_LARGE_TABLE, 2 * DUE + delivered));
    return { drains, reads };
  } finally {
    await program.stop();
  }
}

async function readsBeside(beside: string, baseUrl: string): Promise<EventFigures['reads'][0]> {
  const requests = Array.from({ length: ENDPOINTS }, (_, user): LoadRequest => ({
    method: 'GET',
    path: '/dev/v1/me',
    headers: { authorization: `Bearer ${accessToken(user)}` },
  }));
  const load = { kind: 'repeated', requests } as const;
  const { rate, p50, p99 } = await autocannonLoad(baseUrl, load, SECONDS, 200);
  return { beside, p50, p99, perSecond: rate };
}

async function countDue(pool: Pool): Promise<number> {
  const [[row]] = await pool.query<RowDataPacket[]>(
    'SELECT COUNT(*) AS due FROM webhook_events WHERE outcome IS NULL',
  );
  return Number(row?.due);
}

/** Apps with endpoints, and members with a post and a grant. @param appOf the app of a member */
async function fillMembers(
  pool: Pool,
  receiver: Receiver,
  members: number,
  appOf: (member: number) => string,
): Promise<void> {
  const userIds = await fillUsers(pool, members);
  for (let app = 0; app < ENDPOINTS; app += 1) await insertApp(pool, clientId(app));
  await insertGrants(pool, userIds, appOf);
  await pool.query(`
    INSERT INTO posts (id, user_id, client_id, content, type, images, tags, visibility, created_at)
    SELECT ${idOf('post', 'seq')}, ${idOf('usr', 'seq')}, '${clientId(0)}', 'Bring a chair.', 'general', '[]', '[]', 'public', UTC_TIMESTAMP(3)
    FROM seq_0_to_${members - 1}`);
  await pool.query(
    `INSERT INTO webhook_endpoints (client_id, url, secret_salt, created_at, fails_next)
      SELECT ${clientOf('seq')}, ?, SHA2(seq, 256), UTC_TIMESTAMP(3), 0 FROM seq_0_to_${ENDPOINTS - 1}`,
    [receiver.url],
  );
}

async function insertComments(pool: Pool, count: number): Promise<void> {
  await pool.query(`
    INSERT INTO comments (id, post_id, user_id, client_id, text, created_at)
    SELECT ${idOf('cmt', 'seq')}, ${idOf('post', memberOf('seq'))}, ${idOf('usr', memberOf('seq'))}, ${clientOf('seq')}, 'Count me in!', UTC_TIMESTAMP(3)
    FROM seq_0_to_${count - 1}`);
}

/** Inserts events of comments: due now, or delivered in the last 30 days. */
async function insertEvents(
  pool: Pool,
  first: number,
  count: number,
  isDue: boolean,
): Promise<void> {
  for (let from = first; from < first + count; from += ROWS_PER_STATEMENT) {
    const to = Math.min(first + count, from + ROWS_PER_STATEMENT) - 1;
    await pool.query(`
      INSERT INTO webhook_events (client_id, id, type, user_id, subject_id, details, created_at, due_at, attempts, last_result, outcome)
      SELECT ${clientOf('seq')}, ${idOf('msg', 'seq')}, 'comment.created', ${idOf('usr', memberOf('seq'))}, ${idOf('cmt', `seq % ${DUE}`)},
        CONCAT('{"postId":"', ${idOf('post', memberOf('seq'))}, '"}'), ${
          isDue
            ? 'UTC_TIMESTAMP(3), UTC_TIMESTAMP(3), 0, NULL, NULL'
            : "UTC_TIMESTAMP(3) - INTERVAL seq % 2592000 SECOND, NULL, 1, '204', 'delivered'"
        } FROM seq_${from}_to_${to}`);
  }
}

const COSTS = [
  { endpoints: 'none', enabled: 0, sent: false },
  { endpoints: 'of other apps', enabled: ENDPOINTS - 1, sent: true },
  { endpoints: "of the member's app, not sent yet", enabled: ENDPOINTS, sent: false },
  { endpoints: "of the member's app, sent beside", enabled: ENDPOINTS, sent: true },
] as const;

/** The rates of publishing and commenting by the member of app 0, in turn for each number of endpoints. */
async function measureCosts(server: BenchServer, receiver: Receiver): Promise<Cost[]> {
  const { url, pool } = await server.database('platform_bench_event_costs');
  await fillMembers(pool, receiver, MEMBERS, () => clientId(0));
  const program = await startService(url, { env: DEVELOPMENT });
  try {
    const rates = COSTS.map(() => ({ posts: [] as number[], comments: [] as number[] }));
    for (let round = 0; round <= ROUNDS; round += 1)
      for (const [index, { enabled, sent }] of COSTS.entries()) {
        // A lease of another process keeps this one from sending. The last apps come first, so that app 0 is the last to listen.
        await pool.query(
          `UPDATE webhook_endpoints SET leased_until = ?, disabled_at = IF(client_id >= ?, NULL, UTC_TIMESTAMP(3))`,
          [sent ? null : new Date('2030-01-01'), clientId(ENDPOINTS - enabled)],
        );
        await sleep(NOTICE_MS);
        const { rate: posts } = await autocannonLoad(program.baseUrl, publishing(), SECONDS, 201);
        const { rate: comments } = await autocannonLoad(
          program.baseUrl,
          commenting(),
          SECONDS,
          201,
        );
        await pool.query('DELETE FROM webhook_events');
        // The first round warms up.
        if (round === 0) continue;
        rates[index]?.posts.push(posts);
        rates[index]?.comments.push(comments);
      }
    return COSTS.map(({ endpoints }, index) => ({
      endpoints,
      postsPerSecond: median(rates[index]?.posts ?? []),
      commentsPerSecond: median(rates[index]?.comments ?? []),
    }));
  } finally {
    await program.stop();
  }
}

const publishing = (): Requests => ({
  kind: 'once',
  next: () => postJson('/dev/v1/posts', randomInt(MEMBERS), { content: 'Bring a chair.' }),
});

const commenting = (): Requests => ({
  kind: 'once',
  next: () => {
    const member = randomInt(MEMBERS);
    const path = `/dev/v1/posts/${postId(member)}/comments`;
    return postJson(path, member, { text: 'Count me in!' });
  },
});

function postJson(path: string, user: number, body: object): LoadRequest {
  return {
    method: 'POST',
    path,
    headers: {
      authorization: `Bearer ${accessToken(user)}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify(body),
  };
}
