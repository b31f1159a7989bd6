import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { freePort } from '../../support/free-port.js';

const NOBODY_UID = 65_534;
const isRoot = process.getuid?.() === 0;
const START_TIMEOUT_MS = 30_000;
export const PUBLIC_URL = 'https://api.example';

/** The environment variables of the programs. */
const SETTINGS = {
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  PUBLIC_URL,
  METRICS_PORT: 'off',
  MIGRATE: '1',
  OTP_PEPPER: 'a pepper of at least 32 characters',
  SHUTDOWN_DELAY_MS: '0',
  SMS_SENDER: 'file',
};

/** Also remounts the folders of temporary files if they are separate file systems. */
const MAKE_READ_ONLY = [
  'mount -o remount,bind,ro /',
  'for place in /tmp /var/tmp; do ! mountpoint -q $place || mount -o remount,bind,ro $place || exit; done',
].join(' && ');

/** Makes the file system read-only except the volume, in a separate namespace, and continues as `nobody`. */
const RUN_CONTAINED = [
  'mount --bind data data',
  MAKE_READ_ONLY,
  `exec setpriv --reuid=${NOBODY_UID} --regid=${NOBODY_UID} --clear-groups "$@"`,
].join(' && ');

/** The place where the programs run. They can write to the volume in it, but not to the folder itself. */
interface Sandbox {
  /** The working directory, with the volume `data` in it. */
  folder: string;
  /** Whether the rest of the file system is read-only too. */
  isContained: boolean;
}

/** A running service in a sandbox. */
export interface Unprivileged extends Sandbox {
  baseUrl: string;
  /** The owner of the database file. */
  uid: number;
  output(): string;
  /**
   * Runs a command of the operator's command line with the same rights as the service. Returns its standard output.
   * @throws when the command fails
   */
  command(args: readonly string[], input?: string): Promise<string>;
  /** Returns the exit code. */
  stop(): Promise<number | null>;
  remove(): Promise<void>;
}

/**
 * Starts the built service in a new folder, where only `data` is writable, as in the image. If this process is root, the service
 * runs as `nobody`, who does not own the program; otherwise it runs as the current user.
 */
export async function startUnprivileged(): Promise<Unprivileged> {
  const buildFailure = inject('buildFailure');
  if (buildFailure !== null) throw new Error(buildFailure);
  const folder = await mkdtemp(join(tmpdir(), 'platform-volume-'));
  await mkdir(join(folder, 'data'));
  if (isRoot) await chown(join(folder, 'data'), NOBODY_UID, NOBODY_UID);
  await chmod(folder, 0o555);
  const port = String(await freePort());
  const sandbox = { folder, isContained: canContain() };
  const { child, ended, output } = begin(sandbox, ['main.js'], { PORT: port });
  const remove = async (): Promise<void> => {
    child.kill('SIGKILL');
    await chmod(folder, 0o755);
    await rm(folder, { recursive: true });
  };
  const baseUrl = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await isReady(baseUrl))) {
    if (Date.now() > deadline || child.exitCode !== null) {
      await remove();
      throw new Error(`The service did not start.\n${output()}`);
    }
    await sleep(50);
  }
  const { uid } = await stat(join(folder, 'data', 'service.sqlite'));
  return {
    ...sandbox,
    baseUrl,
    uid,
    output,
    command: async (args, input = '') => {
      const command = begin(sandbox, ['cli.js', ...args]);
      command.child.stdin.on('error', () => undefined).end(input);
      const code = await command.ended;
      if (code !== 0)
        throw new Error(`"${args.join(' ')}" ended with ${code}.\n${command.output()}`);
      return command.stdout();
    },
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
    remove,
  };
}

/** Starts one of the built programs in the sandbox. */
function begin(
  { folder, isContained }: Sandbox,
  [program = '', ...args]: readonly string[],
  env: Record<string, string> = {},
) {
  const words = [process.execPath, resolve('dist/src/bundle', program), ...args];
  const [command = '', ...parameters] = isContained
    ? ['unshare', '--mount', 'sh', '-c', RUN_CONTAINED, 'sh', ...words]
    : words;
  const child = spawn(command, parameters, {
    cwd: folder,
    // The program has no writable home or temporary folder.
    env: { ...SETTINGS, PATH: process.env.PATH, HOME: folder, TMPDIR: folder, ...env },
    ...(isRoot && !isContained && { uid: NOBODY_UID, gid: NOBODY_UID }),
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const printed: string[] = [];
  const stdout: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => printed.push(chunk));
  child.stdout.on('data', (chunk: string) => stdout.push(chunk));
  return { child, ended, output: () => printed.join(''), stdout: () => stdout.join('') };
}

/** Whether this process may start programs with a file system that is read-only for them alone. */
function canContain(): boolean {
  const tried = spawnSync('unshare', [
    '--mount',
    'sh',
    '-c',
    `${MAKE_READ_ONLY} && setpriv --version`,
  ]);
  return tried.status === 0;
}

/** The names, without paths, of all files below a folder. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

async function isReady(baseUrl: string): Promise<boolean> {
  const response = await fetch(`${baseUrl}/readyz`).catch(() => undefined);
  await response?.body?.cancel();
  return response?.status === 200;
}
