import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, open, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  FAST_SETTINGS,
  type PrivateServer,
  type PrivateServerOptions,
  startServerByCommand,
  STOP_TIMEOUT_MS,
  testAccount,
} from './server-by-command.js';
import { freePort } from './free-port.js';
import { findProgram, versionLine } from './programs.js';
import { serverVersion } from './sql.js';

const START_TIMEOUT_MS = 60_000;

/** The data survives a crash of the server, but not of the machine. */
const NO_SYNC = ['--innodb-flush-method=nosync'];

export type ServerKind = 'mariadb' | 'mysql';
/** Initializes the data directory. */
type Prepare = (options: string[]) => Promise<unknown>;

/**
 * Starts a private server of each kind that is installed, with its own folder, port and password. If MySQL is not installed, uses
 * `TEST_MYSQL_COMMAND`.
 * @param areOthersGiven whether `TEST_DATABASE_URLS` names servers, so that `TEST_MYSQL_COMMAND` is not needed
 * @param isOneEnough whether the run needs only one server: MySQL then starts only if there is neither MariaDB nor a given server
 */
export async function startPrivateServers({
  areOthersGiven,
  isOneEnough,
}: {
  areOthersGiven: boolean;
  isOneEnough: boolean;
}): Promise<PrivateServer[]> {
  const startMysql = areOthersGiven ? startInstalled : startPrivateServer;
  const mariadb = startPrivateServer('mariadb', { settings: NO_SYNC });
  const isMysqlNeeded = !isOneEnough || (!areOthersGiven && (await mariadb) === undefined);
  const servers = [mariadb, ...(isMysqlNeeded ? [startMysql('mysql', { settings: NO_SYNC })] : [])];
  const results = await Promise.allSettled(servers);
  const failed = results.find((result) => result.status === 'rejected');
  const started = results.flatMap((result) =>
    result.status === 'fulfilled' && result.value !== undefined ? [result.value] : [],
  );
  if (failed === undefined) return started;
  await Promise.all(started.map((server) => server.stop()));
  throw failed.reason;
}

/** Starts a private server of this kind. Returns undefined if it is neither installed nor started by a command. */
export async function startPrivateServer(
  kind: ServerKind,
  serverOptions: PrivateServerOptions = {},
): Promise<PrivateServer | undefined> {
  const installed = await startInstalled(kind, serverOptions);
  return installed ?? (kind === 'mysql' ? startServerByCommand(serverOptions) : undefined);
}

async function startInstalled(
  kind: ServerKind,
  serverOptions: PrivateServerOptions,
): Promise<PrivateServer | undefined> {
  const run = promisify(execFile);
  if (kind === 'mariadb') {
    const mariadbd = await findProgram('mariadbd');
    const installer = await findProgram('mariadb-install-db');
    if (mariadbd === undefined || installer === undefined) return undefined;
    const ownOptions = ['--auth-root-authentication-method=socket', '--skip-test-db'];
    return start(mariadbd, serverOptions, (options) => run(installer, [...options, ...ownOptions]));
  }
  const mysqld = await findProgram('mysqld');
  if (mysqld === undefined || (await isMariaDb(mysqld))) return undefined;
  return start(mysqld, serverOptions, (options) =>
    run(mysqld, [...options, '--initialize-insecure']),
  );
}

/** MariaDB installs its server as `mysqld`, too. */
async function isMariaDb(path: string): Promise<boolean> {
  return (await versionLine(path, '--no-defaults')).includes('MariaDB');
}

async function start(
  program: string,
  { parent = tmpdir(), settings: extraSettings = [] }: PrivateServerOptions,
  prepare: Prepare,
): Promise<PrivateServer> {
  const folder = await mkdtemp(join(parent, 'platform-db-'));
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  // A starting server deletes the temporary tables of other servers with the same `tmpdir`.
  const options = ['--no-defaults', `--datadir=${join(folder, 'data')}`, `--tmpdir=${folder}`];
  if (process.getuid?.() === 0) options.push('--user=root');
  try {
    await prepare(options);
  } catch (error) {
    removeFolder();
    throw error;
  }
  const password = randomBytes(16).toString('hex');
  const port = await freePort();
  const log = join(folder, 'log');
  await writeFile(join(folder, 'init.sql'), accountStatements(password));
  const launch = async (...more: string[]): Promise<ChildProcess> => {
    const output = await open(log, 'a');
    const launched = spawn(
      program,
      [...options, ...settings(folder, port), ...extraSettings, ...more],
      {
        stdio: ['ignore', output.fd, output.fd],
      },
    );
    await output.close();
    return launched;
  };
  let child = await launch(`--init-file=${join(folder, 'init.sql')}`);
  const killOnExit = (): void => {
    child.kill('SIGKILL');
    removeFolder();
  };
  process.once('exit', killOnExit);
  const stop = async (): Promise<void> => {
    await terminate(child);
    process.off('exit', killOnExit);
    removeFolder();
  };
  const url = `mysql://tests:${password}@127.0.0.1:${port}`;
  const awaitReady = async (): Promise<void> => {
    try {
      await waitUntilReady(child, url);
    } catch (error) {
      const output = await readFile(log, 'utf8').catch(() => '');
      throw new Error(`${program} did not start.\n${output.slice(-2000)}`, { cause: error });
    }
  };
  try {
    await awaitReady();
  } catch (error) {
    await stop();
    throw error;
  }
  const startAgain = async (): Promise<void> => {
    child = await launch();
    await awaitReady();
  };
  return {
    url,
    get pid() {
      return child.pid;
    },
    restart: async () => {
      await terminate(child);
      await startAgain();
    },
    kill: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    start: startAgain,
    suspend: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    stop,
  };
}

/** One statement per line, as an init file requires. */
function accountStatements(password: string): string {
  const root = `ALTER USER root@localhost IDENTIFIED BY '${password}'`;
  return [...testAccount(password), root].map((statement) => `${statement};\n`).join('');
}

function settings(folder: string, port: number): string[] {
  return [
    '--bind-address=127.0.0.1',
    `--port=${port}`,
    `--socket=${join(folder, 'sock')}`,
    `--pid-file=${join(folder, 'pid')}`,
    `--secure-file-priv=${folder}`,
    '--skip-name-resolve',
    '--loose-mysqlx=OFF',
    ...FAST_SETTINGS,
  ];
}

async function waitUntilReady(child: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error('The server process has ended.');
    try {
      await serverVersion(url);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(100);
    }
  }
}

async function terminate(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const killTimer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(killTimer);
}
