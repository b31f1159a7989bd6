import { rm } from 'node:fs/promises';
import { startProcess } from './app-process.js';
import { newSmsFile, SmsInbox } from './doubles.js';
import { endEach } from './end-each.js';
import { freePort } from './free-port.js';
import { NO_BUDGETS, TestApp } from './test-app.js';

/** The built service in a process of its own, as it is shipped: with the real clock, and with its jobs. */
export interface Served {
  /** What a test sets up and looks with. What it sends goes to the process. */
  readonly app: TestApp;
  stop(): Promise<void>;
}

export interface ServedOptions {
  /** The `DATABASE_URL` of the process. */
  url: string;
  /** Another way to the same database, on which nothing breaks, for what the test sets up and looks at. */
  besideUrl?: string;
  /** More of the environment. */
  env?: Readonly<Record<string, string>>;
}

/** Starts the service on a database, whose schema it is given. Budgets are off. */
export async function serve({ url, besideUrl = url, env = {} }: ServedOptions): Promise<Served> {
  const port = String(await freePort());
  const smsFile = newSmsFile();
  const own = { ...env, PUBLIC_URL: `http://127.0.0.1:${port}` };
  const app = await TestApp.start({ url: besideUrl }, own, new SmsInbox([smsFile]));
  app.clock.set(new Date().toISOString());
  try {
    const settings = { PORT: port, SMS_FILE: smsFile, MIGRATE: '0', DEMO: '0' };
    const service = await startProcess({ url, env: { ...NO_BUDGETS, ...settings, ...own } });
    return {
      app,
      stop: () =>
        endEach(
          async () => expect(await service.stop()).toBe(0),
          () => app.stop(),
          () => rm(smsFile, { force: true }),
        ),
    };
  } catch (error) {
    await app.stop();
    throw error;
  }
}
