import { randomBytes } from 'node:crypto';
import type { Site } from './browser.js';
import type { TestDatabase } from './database.js';
import { newSmsFile, SmsInbox } from './doubles.js';
import { freePort } from './free-port.js';
import { type ServiceProcess, type ProcessSettings, startProcess } from './service-process.js';
import { byExtent } from '../suite.js';
import { callAt, TEST_LIMITS } from './test-app.js';

/** The number of rounds of a race. `npm run test:races` sets a higher number. */
export const ROUNDS = Number(process.env.RACE_ROUNDS ?? byExtent({ whole: 10, quick: 2 }));

/**
 * Processes of the built service with one public URL. `fetch` sends requests to the processes in turn (round robin), except those of
 * browsers if one process serves all pages.
 */
export class Cluster implements Site {
  private requests = 0;

  constructor(
    readonly baseUrl: string,
    private readonly processes: readonly ServiceProcess[],
    private readonly servingPages?: ServiceProcess,
    readonly sms = new SmsInbox(processes.map(({ smsFile }) => smsFile)),
  ) {}

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const { baseUrl } = (isPage(path) ? this.servingPages : undefined) ?? this.next();
    return fetch(new URL(path, baseUrl), { redirect: 'manual', ...init });
  }

  /** Calls the developer API with a token and an optional JSON body. */
  call(
    token: string,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Response> {
    return callAt(this.next().baseUrl, token, method, path, body, headers);
  }

  private next(): ServiceProcess {
    this.requests += 1;
    const process = this.processes[this.requests % this.processes.length];
    if (!process) throw new Error('The cluster has no process.');
    return process;
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.stop()));
  }

  /** Kills all processes. */
  async kill(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.kill()));
  }
}

/** Whether a browser opens this path, and not an app. */
export function isPage(path: string): boolean {
  return /^\/(oauth\/authorize|account)\b/.test(path);
}

/** Starts processes of the service on a migrated database. */
export async function startCluster(
  { url: databaseUrl, build, env: overrides = {} }: Pick<ProcessSettings, 'url' | 'build' | 'env'>,
  { processes = 2 } = {},
): Promise<Cluster> {
  const publicUrl = `http://127.0.0.1:${await freePort()}`;
  const env = {
    ...TEST_LIMITS,
    PUBLIC_URL: publicUrl,
    SMS_FILE: newSmsFile(),
    OTP_PEPPER: randomBytes(32).toString('hex'),
    MIGRATE: '0',
    DEMO: '0',
    ...overrides,
  };
  const start = (): Promise<ServiceProcess> => startProcess({ url: databaseUrl, build, env });
  return new Cluster(publicUrl, await Promise.all(Array.from({ length: processes }, start)));
}

/** Starts processes for a `describe` and stops them afterwards. Call it after the hook that migrates the database. */
export function useCluster(
  database: TestDatabase,
  env?: ProcessSettings['env'],
  { processes = 2 } = {},
): () => Cluster {
  let cluster: Cluster | undefined;
  beforeAll(async () => {
    cluster = await startCluster({ url: database.url, env }, { processes });
  });
  afterAll(() => cluster?.stop());
  return () => {
    if (!cluster) throw new Error('The cluster is not started: call this in a test or hook.');
    return cluster;
  };
}

/** Runs a race `count` times, one after the other. Rounds are numbered from 0. */
export async function rounds(
  run: (round: number) => Promise<unknown>,
  count = ROUNDS,
): Promise<void> {
  for (let round = 0; round < count; round += 1) await run(round);
}

/** The test timeout for `rounds`. */
export const ROUNDS_TIMEOUT_MS = 30_000 + ROUNDS * 5_000;

/** The test timeout for `rounds` that kill a process and start another. */
export const KILL_ROUNDS_TIMEOUT_MS = 30_000 + ROUNDS * 15_000;

/** A test that runs a race in rounds, which are numbered from 0. */
export function race(
  title: string,
  round: (round: number) => Promise<unknown>,
  timeoutMs = ROUNDS_TIMEOUT_MS,
): void {
  it(`${title}, in ${ROUNDS} rounds`, () => rounds(round), timeoutMs);
}

/** Makes `count` calls, one after the other. */
export async function inTurn<T>(count: number, call: (number: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let number = 0; number < count; number += 1) results.push(await call(number));
  return results;
}

/** Makes `count` calls at once. */
export function concurrently<T>(count: number, call: (number: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, number) => call(number)));
}
