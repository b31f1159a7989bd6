import type { BenchServer } from '../server.js';
import { startByName, SERVICE } from '../programs.js';
import { median } from '../results.js';
import { fillToScale, type Size } from './fill.js';
import { Api, OPERATIONS, type Operation } from './operations.js';

const SMALL: Size = { posts: 10_000, comments: 1_000 };
/** Alternating measurements of the two data sets, or of two pages. */
const ROUNDS = 5;
const WARM_UP_REQUESTS = 50;
const REQUESTS = 100;
/** The deepest page that is compared with page 1: the last one of the list with ten million posts. */
const DEEPEST_PAGE = 2000;
const PAGE_SIZE = 50;

export interface Flatness {
  operation: string;
  /** Median latency in milliseconds: with few and with many posts, or of page 1 and of the page that is compared with it. */
  small: number;
  large: number;
}

/** Compares the latency of each operation with 10,000 posts and with many more. */
export async function measureFlatness(server: BenchServer, large: Size): Promise<Flatness[]> {
  const instances = [];
  for (const size of [SMALL, large]) {
    const { url, pool } = await server.database(`platform_bench_${size.posts}`);
    const began = performance.now();
    await fillToScale(pool, size);
    process.stderr.write(`Inserted ${size.posts} posts in ${seconds(began)} s\n`);
    const program = await startByName(SERVICE, url);
    instances.push({ program, api: new Api(program.baseUrl, size) });
  }
  try {
    const [small, big] = instances.map(({ api }) => api) as [Api, Api];
    const rows: Flatness[] = [];
    for (const operation of OPERATIONS)
      rows.push({ operation: operation.name, ...(await compare(operation, small, big)) });
    rows.push(...(await deepPages(big, large)));
    return rows;
  } finally {
    await Promise.all(instances.map(({ program }) => program.stop()));
  }
}

async function compare(
  operation: Operation,
  small: Api,
  large: Api,
): Promise<Pick<Flatness, 'small' | 'large'>> {
  const times = { small: [] as number[], large: [] as number[] };
  await latencies(operation, small, WARM_UP_REQUESTS);
  await latencies(operation, large, WARM_UP_REQUESTS);
  for (let round = 0; round < ROUNDS; round += 1) {
    times.small.push(...(await latencies(operation, small, REQUESTS)));
    times.large.push(...(await latencies(operation, large, REQUESTS)));
  }
  return { small: median(times.small), large: median(times.large) };
}

/**
 * Compares page 1 with the deepest page, by link and by number, and with the page halfway to it, by number. That page is in the
 * middle of the list, and the farthest from both ends.
 */
async function deepPages(api: Api, { posts }: Size): Promise<Flatness[]> {
  // User 0 owns every hundredth post.
  const deepest = Math.min(DEEPEST_PAGE, posts / 100 / PAGE_SIZE);
  let path = `/posts?limit=${PAGE_SIZE}`;
  for (let page = 1; page < deepest; page += 1) {
    const link = (await api.send('GET', path)).headers.get('link') ?? '';
    const next = /<([^>]+)>; rel="next"/.exec(link)?.[1];
    if (next === undefined) throw new Error(`Page ${page} has no next page.`);
    const { pathname, search } = new URL(next);
    path = pathname.replace('/dev/v1', '') + search;
  }
  const first = reading(`/posts?limit=${PAGE_SIZE}`);
  const compareWithFirst = async (target: string): Promise<Pick<Flatness, 'small' | 'large'>> => {
    const times = { small: [] as number[], large: [] as number[] };
    for (let round = 0; round < ROUNDS; round += 1) {
      times.small.push(...(await latencies(first, api, REQUESTS)));
      times.large.push(...(await latencies(reading(target), api, REQUESTS)));
    }
    return { small: median(times.small), large: median(times.large) };
  };
  const middle = Math.ceil(deepest / 2);
  const numbered = (page: number): string => `/posts?limit=${PAGE_SIZE}&page=${page}`;
  return [
    {
      operation: `page ${deepest} by link, compared with page 1`,
      ...(await compareWithFirst(path)),
    },
    {
      operation: `page ${deepest} by number, compared with page 1`,
      ...(await compareWithFirst(numbered(deepest))),
    },
    {
      operation: `page ${middle} by number, compared with page 1`,
      ...(await compareWithFirst(numbered(middle))),
    },
  ];
}

function reading(target: string): Operation {
  return { name: target, send: (api) => api.json('GET', target) };
}

/** Sends requests one after the other. @returns their latencies in milliseconds */
async function latencies({ send }: Operation, api: Api, requests: number): Promise<number[]> {
  const times: number[] = [];
  for (let number = 0; number < requests; number += 1) {
    const began = performance.now();
    await send(api);
    times.push(performance.now() - began);
  }
  return times;
}

function seconds(began: number): number {
  return Math.round((performance.now() - began) / 100) / 10;
}
