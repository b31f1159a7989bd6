import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { SUITE } from '../suite.js';
import { freePort } from './free-port.js';
import { runSql } from './sql.js';

/** A database server that belongs to this test run. */
export interface PrivateServer {
  readonly url: string;
  readonly pid: number | undefined;
  /** Restarts the server with the same data and port. */
  restart(): Promise<void>;
  /** Kills the server without a shutdown. The data remains. */
  kill(): Promise<void>;
  /** Starts the server after `kill`, with the same data and port. */
  start(): Promise<void>;
  /** Suspends the server: connections stay open, without a response. */
  suspend(): void;
  /** Resumes the server after `suspend`. */
  resume(): void;
  /**
   * Stops the server for good and deletes its data. Only the `stop` of a `TEST_MYSQL_COMMAND`, the fallback of `drop`, keeps the
   * data.
   */
  stop(): Promise<void>;
}

export interface PrivateServerOptions {
  /** The parent of the server's folder; default: the folder for temporary files. */
  parent?: string;
  /** Server options that override `FAST_SETTINGS`. */
  settings?: readonly string[];
}

/** A server that has not stopped after this time is killed. */
export const STOP_TIMEOUT_MS = 10_000;

/**
 * Fast rather than durable. A time zone other than UTC and a non-strict mode reveal code that uses the server's local time or
 * relies on the server to reject values that do not fit.
 */
export const FAST_SETTINGS: readonly string[] = [
  '--default-time-zone=-05:30',
  '--sql-mode=',
  '--innodb-flush-log-at-trx-commit=2',
  '--innodb-buffer-pool-size=64M',
  '--innodb-doublewrite=OFF',
  '--skip-log-bin',
  '--performance-schema=OFF',
  '--max-connections=500',
];

/** The statements that create the test account. */
export function testAccount(password: string): string[] {
  return [
    `CREATE USER tests@'127.0.0.1' IDENTIFIED BY '${password}'`,
    `GRANT ALL ON *.* TO tests@'127.0.0.1' WITH GRANT OPTION`,
  ];
}

/** Settings under which no committed transaction is lost. */
export const DURABLE_SETTINGS: readonly string[] = [
  '--innodb-flush-log-at-trx-commit=1',
  '--innodb-doublewrite=ON',
];

/** The id of the `mysqld` process with this port, even if it runs in a chroot. */
export function findServerPid(port: number): number | undefined {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const pid = processes.find((name) => {
    try {
      const [program = '', ...options] = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      return program.endsWith('mysqld') && options.includes(`--port=${port}`);
    } catch {
      // The process has ended.
      return false;
    }
  });
  return pid === undefined ? undefined : Number(pid);
}

/** Like `findServerPid`. @throws when there is no such process */
export function serverPid(port: number): number {
  const pid = findServerPid(port);
  if (pid === undefined) throw new Error(`No mysqld with --port=${port} runs on this machine.`);
  return pid;
}

/** Long, because the command may install the server or recover its data. */
const COMMAND_TIMEOUT_MS = 110_000;
const KILL_TIMEOUT_MS = 10_000;
/** Subcommands that stop a server. `drop` also deletes its data. `stop`, the fallback, keeps the data. */
const STOP_SUBCOMMANDS = ['drop', 'stop'] as const;

/**
 * Starts a MySQL server by `TEST_MYSQL_COMMAND`, with its own data and port. Returns undefined if the variable is not set, outside
 * of `npm run test:faults`, or if the caller sets `parent`.
 *
 * The command supports `start PORT`, which reads server options from `MYSQL_ARGS` and prints a URL. It also supports `drop PORT`,
 * which stops the server and deletes its data, or at least `stop PORT`.
 */
export async function startServerByCommand({
  parent,
  settings = [],
}: PrivateServerOptions): Promise<PrivateServer | undefined> {
  const { TEST_MYSQL_COMMAND: command = '' } = process.env;
  if (command === '' || SUITE !== 'faults' || parent !== undefined) return undefined;
  const server = new ServerByCommand(command, await freePort(), [...FAST_SETTINGS, ...settings]);
  await server.prepare();
  return server;
}

class ServerByCommand implements PrivateServer {
  private readonly password = randomBytes(16).toString('hex');

  constructor(
    private readonly command: string,
    private readonly port: number,
    private readonly settings: readonly string[],
  ) {}

  get url(): string {
    return `mysql://tests:${this.password}@127.0.0.1:${this.port}`;
  }

  get pid(): number | undefined {
    return findServerPid(this.port);
  }

  /** Starts the server for the first time and creates the test account. */
  async prepare(): Promise<void> {
    process.once('exit', this.stopOnExit);
    try {
      const administrator = new URL(await this.runStartCommand());
      administrator.pathname = '/';
      for (const statement of testAccount(this.password))
        await runSql(administrator.href, statement);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async restart(): Promise<void> {
    await this.terminate();
    await this.start();
  }

  async kill(): Promise<void> {
    const pid = serverPid(this.port);
    process.kill(pid, 'SIGKILL');
    if (!(await hasExitedWithin(KILL_TIMEOUT_MS, pid)))
      throw new Error(`The server on port ${this.port} outlives SIGKILL.`);
  }

  async start(): Promise<void> {
    await this.runStartCommand();
  }

  suspend(): void {
    process.kill(serverPid(this.port), 'SIGSTOP');
  }

  resume(): void {
    this.signal('SIGCONT');
  }

  async stop(): Promise<void> {
    await this.terminate();
    process.off('exit', this.stopOnExit);
    await dropServer(this.command, this.port);
  }

  /** Starts the server. Returns the URL that the command prints, with the credentials of an administrator. */
  private async runStartCommand(): Promise<string> {
    const env = { MYSQL_ARGS: this.settings.join(' ') };
    const printed = await call(this.command, 'start', this.port, env);
    return printed.trim().split('\n').at(-1) ?? '';
  }

  /** Stops the server, by force if necessary. */
  private async terminate(): Promise<void> {
    const { pid } = this;
    if (pid === undefined) return;
    process.kill(pid, 'SIGTERM');
    if (!(await hasExitedWithin(STOP_TIMEOUT_MS, pid)) && this.pid !== undefined) await this.kill();
  }

  private signal(name: NodeJS.Signals): void {
    const { pid } = this;
    if (pid !== undefined) process.kill(pid, name);
  }

  /** Stops the server when this process ends without `stop`, and deletes its data if the command supports that. */
  private readonly stopOnExit = (): void => {
    this.signal('SIGKILL');
    const options = { stdio: 'ignore', timeout: COMMAND_TIMEOUT_MS } as const;
    STOP_SUBCOMMANDS.some(
      (subcommand) =>
        spawnSync(this.command, [subcommand, String(this.port)], options).status === 0,
    );
  };
}

/**
 * Stops a server and deletes its data. If `drop` exits with an error, falls back to `stop`, which keeps the data.
 * @throws when `drop` does not exit in time, or when both fail
 */
export async function dropServer(command: string, port: number): Promise<void> {
  const [drop, stop] = STOP_SUBCOMMANDS;
  try {
    await call(command, drop, port);
  } catch (error) {
    if (!hasExitCode(error)) throw error;
    await call(command, stop, port);
  }
}

async function call(
  command: string,
  subcommand: 'start' | (typeof STOP_SUBCOMMANDS)[number],
  port: number,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)(command, [subcommand, String(port)], {
    env: { ...process.env, ...env },
    timeout: COMMAND_TIMEOUT_MS,
  });
  return stdout;
}

/** Whether the command exited with a code other than 0, rather than by a signal. */
function hasExitCode(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'number';
}

/**
 * Waits for the end of a process: a server does not start while its predecessor still exists. Returns whether the process ended in
 * time.
 */
async function hasExitedWithin(ms: number, pid: number): Promise<boolean> {
  const deadline = Date.now() + ms;
  while (existsSync(`/proc/${pid}`)) {
    if (Date.now() > deadline) return false;
    await sleep(50);
  }
  return true;
}
