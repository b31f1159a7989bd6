import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { SUITE } from '../suite.js';
import { freePort } from './free-port.js';
import { runSql } from './sql.js';

/** A database server that belongs to this run alone. */
export interface PrivateServer {
  readonly url: string;
  readonly pid: number | undefined;
  /** Ends it in order and starts it anew, on the same data and port. */
  restart(): Promise<void>;
  kill(): Promise<void>;
  /** Starts it again after `kill`, on the same data and port. */
  launch(): Promise<void>;
  /** Stops it where it is: connections stay open, and nothing is answered. */
  freeze(): void;
  /** Lets it go on after `freeze`. */
  thaw(): void;
  stop(): Promise<void>;
}

export interface PrivateServerOptions {
  /** Where it has its folder; that for temporary files by default. */
  parent?: string;
  /** More options of the server, which win over those that are fast rather than durable. */
  settings?: readonly string[];
}

/** Until a server that is told to end is ended by force. */
export const STOP_MS = 10_000;

/**
 * Fast rather than durable. Not in UTC and not strict, so that whoever asks the server for local time, or counts on it
 * to refuse what does not fit, is found out.
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

/** What makes the account that tests use. */
export function testAccount(password: string): string[] {
  return [
    `CREATE USER tests@'127.0.0.1' IDENTIFIED BY '${password}'`,
    `GRANT ALL ON *.* TO tests@'127.0.0.1' WITH GRANT OPTION`,
  ];
}

/** As whoever wants to lose nothing runs it. */
export const DURABLE_SETTINGS: readonly string[] = [
  '--innodb-flush-log-at-trx-commit=1',
  '--innodb-doublewrite=ON',
];

/** The id of the process that runs MySQL's server with this port, also within another root. */
export function processOnPort(port: number): number | undefined {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const pid = processes.find((name) => {
    try {
      const [program = '', ...options] = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      return program.endsWith('mysqld') && options.includes(`--port=${port}`);
    } catch {
      // It ended meanwhile.
      return false;
    }
  });
  return pid === undefined ? undefined : Number(pid);
}

/** The same. @throws when there is none */
export function serverOn(port: number): number {
  const pid = processOnPort(port);
  if (pid === undefined) throw new Error(`No mysqld with --port=${port} runs on this machine.`);
  return pid;
}

/** It may have to install the server, or to recover its data. */
const COMMAND_MS = 110_000;
const KILLED_MS = 10_000;
/** What ends a server for good: a command that does not understand the first is told the second. */
const ENDINGS = ['drop', 'stop'] as const;

/**
 * Starts a MySQL server by a command, with data and a port of its own. Undefined where none is named, nothing is to be broken,
 * or the server's folder has to be where the command does not put it.
 *
 * The command understands `start PORT`, which takes more options of the server from `MYSQL_ARGS` and prints a URL, and
 * `drop PORT`, which ends it and deletes its data, or at least `stop PORT`.
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

  /** Starts it for the first time. */
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

  /** Answers the URL of the server's administrator. */
  private async start(): Promise<string> {
    const settings = { MYSQL_ARGS: this.settings.join(' ') };
    const printed = await call(this.command, 'start', this.port, settings);
    return printed.trim().split('\n').at(-1) ?? '';
  }

  /** In order, or by force where it does not. */
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

/** Ends a server and deletes its data; only ends it where the command does not understand `drop`. @throws when it does neither */
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

/** Whether a command ended by itself, with an exit code other than 0. */
function hasRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'number';
}

/** A server that finds the process of an earlier one there, though it is only dying, does not start. */
async function isGoneWithin(ms: number, pid: number): Promise<boolean> {
  const deadline = Date.now() + ms;
  while (existsSync(`/proc/${pid}`)) {
    if (Date.now() > deadline) return false;
    await sleep(50);
  }
  return true;
}
