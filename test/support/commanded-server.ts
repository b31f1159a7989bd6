import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { SUITE } from '../suite.js';
import { freePort } from './free-port.js';
import { runSql } from './sql.js';

/** A database server that only this run uses. */
export interface PrivateServer {
  readonly url: string;
  readonly pid: number | undefined;
  /** Stops and starts it with the same data and port. */
  restart(): Promise<void>;
  kill(): Promise<void>;
  /** Starts it after `kill` with the same data and port. */
  launch(): Promise<void>;
  /** Suspends it: connections stay open, without a response. */
  freeze(): void;
  /** Resumes it after `freeze`. */
  thaw(): void;
  stop(): Promise<void>;
}

export interface PrivateServerOptions {
  /** The parent of its folder; by default the folder for temporary files. */
  parent?: string;
  /** More options of the server, which override `FAST_SETTINGS`. */
  settings?: readonly string[];
}

/** After this time, a server that does not stop is killed. */
export const STOP_MS = 10_000;

/**
 * Fast rather than durable. Not in UTC and not in strict mode, so that code fails that uses the server's local time or expects the
 * server to reject values that do not fit.
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

/** The statements that create the account of the tests. */
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

/** The id of the `mysqld` process with this port, also in a chroot. */
export function processOnPort(port: number): number | undefined {
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

/** Like `processOnPort`. @throws when there is none */
export function serverOn(port: number): number {
  const pid = processOnPort(port);
  if (pid === undefined) throw new Error(`No mysqld with --port=${port} runs on this machine.`);
  return pid;
}

/** The command may install the server, or recover its data. */
const COMMAND_MS = 110_000;
const KILLED_MS = 10_000;
/** Subcommands that stop a server; the second is the fallback. */
const ENDINGS = ['drop', 'stop'] as const;

/**
 * Starts a MySQL server by `TEST_MYSQL_COMMAND`, with its own data and port. Undefined where the variable is not set, outside of
 * `npm run test:faults`, or where the caller needs the server's folder in a certain place.
 *
 * The command supports `start PORT`, which reads more options of the server from `MYSQL_ARGS` and prints a URL, and `drop PORT`,
 * which stops it and deletes its data, or at least `stop PORT`.
 */
export async function startCommandedServer({
  parent,
  settings = [],
}: PrivateServerOptions): Promise<PrivateServer | undefined> {
  const { TEST_MYSQL_COMMAND: command = '' } = process.env;
  if (command === '' || SUITE !== 'faults' || parent !== undefined) return undefined;
  const server = new CommandedServer(command, await freePort(), [...FAST_SETTINGS, ...settings]);
  await server.prepare();
  return server;
}

class CommandedServer implements PrivateServer {
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
    return processOnPort(this.port);
  }

  /** Starts the server for the first time. */
  async prepare(): Promise<void> {
    process.once('exit', this.endWithRun);
    try {
      const administrator = new URL(await this.start());
      administrator.pathname = '/';
      for (const statement of testAccount(this.password))
        await runSql(administrator.href, statement);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async restart(): Promise<void> {
    await this.end();
    await this.launch();
  }

  async kill(): Promise<void> {
    const pid = serverOn(this.port);
    process.kill(pid, 'SIGKILL');
    if (!(await isGoneWithin(KILLED_MS, pid)))
      throw new Error(`The server on port ${this.port} outlives SIGKILL.`);
  }

  async launch(): Promise<void> {
    await this.start();
  }

  freeze(): void {
    process.kill(serverOn(this.port), 'SIGSTOP');
  }

  thaw(): void {
    this.signal('SIGCONT');
  }

  async stop(): Promise<void> {
    await this.end();
    process.off('exit', this.endWithRun);
    await discard(this.command, this.port);
  }

  /** Returns the URL of the server's administrator. */
  private async start(): Promise<string> {
    const settings = { MYSQL_ARGS: this.settings.join(' ') };
    const printed = await call(this.command, 'start', this.port, settings);
    return printed.trim().split('\n').at(-1) ?? '';
  }

  /** Stops the server, by force if necessary. */
  private async end(): Promise<void> {
    const { pid } = this;
    if (pid === undefined) return;
    process.kill(pid, 'SIGTERM');
    if (!(await isGoneWithin(STOP_MS, pid)) && this.pid !== undefined) await this.kill();
  }

  private signal(name: NodeJS.Signals): void {
    const { pid } = this;
    if (pid !== undefined) process.kill(pid, name);
  }

  private readonly endWithRun = (): void => {
    this.signal('SIGKILL');
    const options = { stdio: 'ignore', timeout: COMMAND_MS } as const;
    ENDINGS.some(
      (word) => spawnSync(this.command, [word, String(this.port)], options).status === 0,
    );
  };
}

/** Stops a server and deletes its data, or only stops it where the command has no `drop`. @throws when both fail */
export async function discard(command: string, port: number): Promise<void> {
  const [drop, stop] = ENDINGS;
  try {
    await call(command, drop, port);
  } catch (error) {
    if (!hasRefused(error)) throw error;
    await call(command, stop, port);
  }
}

async function call(
  command: string,
  word: 'start' | (typeof ENDINGS)[number],
  port: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)(command, [word, String(port)], {
    env: { ...process.env, ...settings },
    timeout: COMMAND_MS,
  });
  return stdout;
}

/** Whether a command ended by itself with an exit code other than 0. */
function hasRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'number';
}

/** A server does not start while the process of an earlier one still exists. */
async function isGoneWithin(ms: number, pid: number): Promise<boolean> {
  const deadline = Date.now() + ms;
  while (existsSync(`/proc/${pid}`)) {
    if (Date.now() > deadline) return false;
    await sleep(50);
  }
  return true;
}
