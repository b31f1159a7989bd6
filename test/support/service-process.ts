import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { cleanUp } from './background.js';
import { newSmsFile, SmsInbox } from './doubles.js';
import { freePort } from './free-port.js';
import { expectNoCredential } from './invariants.js';
import { collectFromProcess } from './response-collector.js';
import { TEST_LIMITS, TestApp } from './test-app.js';

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;

/** A preload for Node, as a URL: prints the packages that a process loaded from node_modules, at its exit. */
export const PRINT_PACKAGES = `data:text/javascript,${encodeURIComponent(`
  import { Module } from 'node:module';
  process.on('exit', () => {
    const packages = Object.keys(Module._cache).map((file) => /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(file)?.[1]);
    process.stderr.write('loaded: ' + JSON.stringify([...new Set(packages)].filter(Boolean).sort()));
  });`)}`;

export interface ProcessSettings {
  /** The `DATABASE_URL`. */
  url: string;
  /** Environment variables that override the defaults, such as a `PUBLIC_URL` shared by several processes. */
  env?: Readonly<Record<string, string>>;
  /** Command line options of Node and V8. */
  nodeOptions?: readonly string[];
  /** A file descriptor for standard output, which `output` then lacks. */
  stdout?: number;
  /** Another build of the service: program and working directory. Its responses are not checked against the document. */
  build?: { readonly main: string; readonly folder: string };
}

/** The built service in its own process. */
export interface ServiceProcess {
  /** The address on which the process listens, which may differ from `PUBLIC_URL`. */
  readonly baseUrl: string;
  /** The file to which the process writes its SMS messages, one JSON line each. */
  readonly smsFile: string;
  /** The output so far, on standard output and standard error. */
  output(): string;
  /**
   * Sends SIGTERM, and SIGKILL after ten seconds. Returns the exit code, or -1 after SIGKILL.
   * @throws when the output contains a client secret, code or token
   */
  stop(): Promise<number>;
  /** Stops reading the output, like a log shipper that hangs. */
  pauseOutput(): void;
  /** Reads the output again after `pauseOutput`. */
  resumeOutput(): void;
  /** The id of the process. */
  readonly pid: number;
  /** Sends a signal without waiting for its effect. */
  signal(name: NodeJS.Signals): void;
  /** Resolves to the exit code when the process ends. */
  readonly ended: Promise<number | null>;
  /** Kills the process. */
  kill(): Promise<void>;
  /** The peak resident memory so far, in MB. */
  peakMemory(): Promise<number>;
}

/** Starts a process behind a proxy, which serves for this time after SIGTERM while it is not ready. Its database has the schema. */
export function startBehindProxy(
  url: string,
  port: number,
  delayMs: number,
): Promise<ServiceProcess> {
  return startProcess({
    url,
    env: {
      PORT: String(port),
      MIGRATE: '0',
      DEMO: '0',
      QUOTA_DEFAULT_LIMIT: '100000',
      SHUTDOWN_DELAY_MS: String(delayMs),
    },
  });
}

/**
 * Starts the built service on a free loopback port and waits until it is alive.
 * @throws with the output of the process, when it ends or does not respond in time
 */
export async function startProcess({
  url,
  env = {},
  nodeOptions = [],
  stdout,
  build,
}: ProcessSettings): Promise<ServiceProcess> {
  const buildFailure = inject('buildFailure');
  if (buildFailure !== null) throw new Error(buildFailure);
  const port = env.PORT ?? String(await freePort());
  const baseUrl = `http://127.0.0.1:${port}`;
  const settings = {
    PORT: port,
    HOST: '127.0.0.1',
    PUBLIC_URL: baseUrl,
    DATABASE_URL: url,
    METRICS_PORT: 'off',
    SMS_SENDER: 'file',
    SMS_FILE: newSmsFile(),
    ...env,
  };
  const child = spawn(
    process.execPath,
    [...nodeOptions, build?.main ?? 'dist/src/bundle/main.js'],
    {
      cwd: build?.folder,
      env: { PATH: process.env.PATH, ...settings },
      stdio: ['ignore', stdout ?? 'pipe', 'pipe'],
    },
  );
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const printed: string[] = [];
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  for (const stream of streams)
    stream.setEncoding('utf8').on('data', (chunk: string) => printed.push(chunk));
  const output = (): string => printed.join('');
  try {
    await waitUntilAlive(child, `${baseUrl}/livez`);
  } catch (error) {
    await stop(child);
    throw new Error(`The service did not start.\n${output()}`, { cause: error });
  }
  if (build === undefined) collectFromProcess(baseUrl, ended);
  return {
    baseUrl,
    smsFile: settings.SMS_FILE,
    output,
    stop: async () => {
      const code = await stop(child);
      expectNoCredential(output(), 'The output of the service');
      return code;
    },
    pauseOutput: () => {
      for (const stream of streams) stream.pause();
    },
    resumeOutput: () => {
      for (const stream of streams) stream.resume();
    },
    pid: child.pid ?? 0,
    signal: (name) => void child.kill(name),
    ended,
    kill: () => kill(child),
    peakMemory: () => peakMemoryOf(child.pid),
  };
}

async function waitUntilAlive(child: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    if (hasEnded(child)) throw new Error(`It exited with code ${child.exitCode ?? 'none'}.`);
    if (Date.now() > deadline) throw new Error(`${url} did not return 200 in time.`);
    const response = await fetch(url, { signal: AbortSignal.timeout(1000) }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.status === 200) return;
    await sleep(50);
  }
}

async function stop(child: ChildProcess): Promise<number> {
  if (!hasEnded(child)) {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const killTimer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(killTimer);
  }
  return child.exitCode ?? -1;
}

async function kill(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function peakMemoryOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024);
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** The built service in its own process, with the real clock and its scheduled jobs. */
export interface StartedService {
  /** For set-up and assertions. Its requests go to the process. */
  readonly app: TestApp;
  stop(): Promise<void>;
}

export interface StartServiceOptions {
  /** The `DATABASE_URL` of the process. */
  url: string;
  /** If `url` leads to a proxy, the URL of the database itself, for set-up and assertions. */
  directUrl?: string;
  /** More environment variables. */
  env?: Readonly<Record<string, string>>;
  build?: ProcessSettings['build'];
}

/** Migrates the database and starts the service on it. */
export async function startService({
  url,
  directUrl = url,
  env = {},
  build,
}: StartServiceOptions): Promise<StartedService> {
  const port = String(await freePort());
  const smsFile = newSmsFile();
  const ownEnv = { ...env, PUBLIC_URL: `http://127.0.0.1:${port}` };
  const app = await TestApp.start({ url: directUrl }, ownEnv, new SmsInbox([smsFile]));
  app.clock.set(new Date().toISOString());
  try {
    const settings = { PORT: port, SMS_FILE: smsFile, MIGRATE: '0', DEMO: '0' };
    const service = await startProcess({
      url,
      env: { ...TEST_LIMITS, ...settings, ...ownEnv },
      build,
    });
    return {
      app,
      stop: () =>
        cleanUp(
          async () => expect(await service.stop()).toBe(0),
          () => app.stop(),
        ),
    };
  } catch (error) {
    await app.stop();
    throw error;
  }
}
