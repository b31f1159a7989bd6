import type { BenchServer } from '../server.js';
import { startService } from '../programs.js';
import { median } from '../results.js';
import { fillToScale, type Size } from './fill.js';
import { Api, OPERATIONS, type Operation } from './operations.js';

const SMALL: Size = { posts: 10_000, comments: 1_000 };
/** Measurements of each of the two data sets, or of each of two pages, in turns. */
const ROUNDS = 5;
const WARM_UP_REQUESTS = 50;
const REQUESTS = 100;
/**
 * Deepest page that is compared with page 1. With ten million posts, it is the last page of user 0, who owns every hundredth
 * post.
 */
const DEEPEST_PAGE = 2000;
const PAGE_SIZE = 50;

export interface Flatness {
  operation: string;
  /**
   * Median latency in milliseconds: with few posts (`small`) and many (`large`), or of page 1 (`small`) and another page
   * (`large`).
   */
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
    process.stderr.write(`Inserted ${size.posts} posts in ${secondsSince(began)} s\n`);
    const program = await startService(url);
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
 * Compares page 1 with two other pages of the list of user 0. The deepest page is read by link and by number. The page halfway to
 * the deepest is read by number: it is the farthest from both ends of the list.
 */
async function deepPages(api: Api, { posts }: Size): Promise<Flatness[]> {
  // User 0 owns every hundredth post.
  const deepest = Math.min(DEEPEST_PAGE, posts / 100 / PAGE_SIZE);
  let linkedPath = `/posts?limit=${PAGE_SIZE}`;
  for (let page = 1; page < deepest; page += 1) {
    const link = (await api.send('GET', linkedPath)).headers.get('link') ?? '';
    const next = /<([^>]+)>; rel="next"/.exec(link)?.[1];
    if (next === undefined) throw new Error(`Page ${page} has no next page.`);
    const { pathname, search } = new URL(next);
    linkedPath = pathname.replace('/dev/v1', '') + search;
  }
  const readFirstPage = readOperation(`/posts?limit=${PAGE_SIZE}`);
  const compareWithFirstPage = async (path: string): Promise<Pick<Flatness, 'small' | 'large'>> => {
    const times = { small: [] as number[], large: [] as number[] };
    for (let round = 0; round < ROUNDS; round += 1) {
      times.small.push(...(await latencies(readFirstPage, api, REQUESTS)));
      times.large.push(...(await latencies(readOperation(path), api, REQUESTS)));
    }
    return { small: median(times.small), large: median(times.large) };
  };
  const middle = Math.ceil(deepest / 2);
  const numberedPath = (page: number): string => `/posts?limit=${PAGE_SIZE}&page=${page}`;
  return [
    {
      operation: `page ${deepest} by link, compared with page 1`,
      ...(await compareWithFirstPage(linkedPath)),
    },
    {
      operation: `page ${deepest} by number, compared with page 1`,
      ...(await compareWithFirstPage(numberedPath(deepest))),
    },
    {
      operation: `page ${middle} by number, compared with page 1`,
      ...(await compareWithFirstPage(numberedPath(middle))),
    },
  ];
}

function readOperation(path: string): Operation {
  return { name: path, send: (api) => api.json('GET', path) };
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

function secondsSince(began: number): number {
  return Math.round((performance.now() - began) / 100) / 10;
}
