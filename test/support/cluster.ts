import { randomBytes } from 'node:crypto';
import type { Site } from './browser.js';
import type { TestDatabase } from './database.js';
import { newSmsFile, SmsInbox } from './doubles.js';
import { freePort } from './free-port.js';
import { type ServiceProcess, type ProcessSettings, startProcess } from './service-process.js';
import { MANY_SIGN_INS } from './test-app.js';

/** How often a race is run: a few times in every run of the tests, many times with `npm run test:races`. */
export const ROUNDS = Number(process.env.RACE_ROUNDS ?? 2);

/** Processes of the built service behind one public URL, which answer by turns. */
export class Cluster implements Site {
  readonly sms: SmsInbox;
  private requests = 0;

  constructor(
    readonly baseUrl: string,
    private readonly processes: readonly ServiceProcess[],
  ) {
    this.sms = new SmsInbox(processes.map(({ smsFile }) => smsFile));
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    this.requests += 1;
    const process = this.processes[this.requests % this.processes.length];
    return fetch(new URL(path, process?.baseUrl), { redirect: 'manual', ...init });
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.stop()));
  }

  /** Ends all processes by force. */
  async kill(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.kill()));
  }
}

/** Starts `size` processes on a database that has its schema. Budgets are off. */
export async function startCluster(
  { url, version }: Pick<ProcessSettings, 'url' | 'version'>,
  size = 2,
): Promise<Cluster> {
  const publicUrl = `http://127.0.0.1:${await freePort()}`;
  const env = {
    ...MANY_SIGN_INS,
    PUBLIC_URL: publicUrl,
    SMS_FILE: newSmsFile(),
    OTP_PEPPER: randomBytes(32).toString('hex'),
    MIGRATE: '0',
    DEMO: '0',
  };
  const start = (): Promise<ServiceProcess> => startProcess({ url, version, env });
  return new Cluster(publicUrl, await Promise.all(Array.from({ length: size }, start)));
}

/** Starts two processes for a `describe` and stops them after. Whatever migrates the database must come before. */
export function useCluster(database: TestDatabase): () => Cluster {
  let cluster: Cluster | undefined;
  beforeAll(async () => {
    cluster = await startCluster(database);
  });
  afterAll(() => cluster?.stop());
  return () => {
    if (!cluster) throw new Error('The cluster starts before the tests.');
    return cluster;
  };
}

/** Runs a race so many times, one after the other. Rounds are numbered from 0. */
export async function rounds(
  race: (round: number) => Promise<void>,
  times = ROUNDS,
): Promise<void> {
  for (let round = 0; round < times; round += 1) await race(round);
}

/** The test timeout of `rounds`. */
export const ROUNDS_MS = 30_000 + ROUNDS * 5_000;

/** The same of rounds in which a process is killed, which takes the start of another one each time. */
export const KILLS_MS = 30_000 + ROUNDS * 15_000;

/** Calls so many times at once. */
export function concurrently<T>(times: number, call: (number: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: times }, (_, number) => call(number)));
}
