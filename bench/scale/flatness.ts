import type { BenchServer } from '../server.js';
import { startByName, SERVICE } from '../programs.js';
import { median } from '../results.js';
import { fillToScale, type Size } from './fill.js';
import { Api, OPERATIONS, type Operation } from './operations.js';

const SMALL: Size = { posts: 10_000, comments: 1_000 };
/** Taken in turns of both data sets. */
const TURNS = 5;
const WARM = 50;
const REQUESTS = 100;
const LAST_PAGE = 2000;
const LIMIT = 50;

export interface Flatness {
  operation: string;
  /** Milliseconds of the median request. */
  small: number;
  large: number;
}

/** What an operation takes on 10,000 posts and on many more. */
export async function measureFlatness(server: BenchServer, large: Size): Promise<Flatness[]> {
  const sides = [];
  for (const size of [SMALL, large]) {
    const { url, pool } = await server.database(`platform_bench_${size.posts}`);
    const began = performance.now();
    await fillToScale(pool, size);
    tell(`${size.posts} posts were made in ${seconds(began)} s`);
    const program = await startByName(SERVICE, url);
    sides.push({ program, api: new Api(program.baseUrl, size) });
  }
  try {
    const [small, big] = sides.map(({ api }) => api) as [Api, Api];
    const rows: Flatness[] = [];
    for (const operation of OPERATIONS)
      rows.push({ operation: operation.name, ...(await compare(operation, small, big)) });
    rows.push(...(await deepPages(big, large)));
    return rows;
  } finally {
    await Promise.all(sides.map(({ program }) => program.stop()));
  }
}

async function compare(
  operation: Operation,
  small: Api,
  large: Api,
): Promise<Pick<Flatness, 'small' | 'large'>> {
  const times = { small: [] as number[], large: [] as number[] };
  await take(operation, small, WARM);
  await take(operation, large, WARM);
  for (let turn = 0; turn < TURNS; turn += 1) {
    times.small.push(...(await take(operation, small, REQUESTS)));
    times.large.push(...(await take(operation, large, REQUESTS)));
  }
  return { small: median(times.small), large: median(times.large) };
}

/**
 * A deep page, the last that has a number if there are so many, by its number and after the one before it, beside the first; and
 * by its number the one in the middle of the list, which is the farthest from both ends.
 */
async function deepPages(api: Api, { posts }: Size): Promise<Flatness[]> {
  const deepest = Math.min(LAST_PAGE, posts / 100 / LIMIT);
  let path = `/posts?limit=${LIMIT}`;
  for (let page = 1; page < deepest; page += 1) {
    const link = (await api.send('GET', path)).headers.get('link') ?? '';
    const next = /<([^>]+)>; rel="next"/.exec(link)?.[1];
    if (next === undefined) throw new Error(`Page ${page} is the last.`);
    const { pathname, search } = new URL(next);
    path = pathname.replace('/dev/v1', '') + search;
  }
  const first = reading(`/posts?limit=${LIMIT}`);
  const beside = async (target: string): Promise<Pick<Flatness, 'small' | 'large'>> => {
    const times = { small: [] as number[], large: [] as number[] };
    for (let turn = 0; turn < TURNS; turn += 1) {
      times.small.push(...(await take(first, api, REQUESTS)));
      times.large.push(...(await take(reading(target), api, REQUESTS)));
    }
    return { small: median(times.small), large: median(times.large) };
  };
  const middle = Math.ceil(deepest / 2);
  const numbered = (page: number): string => `/posts?limit=${LIMIT}&page=${page}`;
  return [
    { operation: `page ${deepest} by its link, beside page 1`, ...(await beside(path)) },
    {
      operation: `page ${deepest} by its number, beside page 1`,
      ...(await beside(numbered(deepest))),
    },
    {
      operation: `page ${middle} by its number, beside page 1`,
      ...(await beside(numbered(middle))),
    },
  ];
}

function reading(target: string): Operation {
  return { name: target, send: (to) => to.json('GET', target) };
}

/** Milliseconds of each request, one after the other. */
async function take({ send }: Operation, api: Api, requests: number): Promise<number[]> {
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

function tell(what: string): void {
  process.stderr.write(`${what}\n`);
}
