import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { freePort } from '../../support/free-port.js';

const NOBODY = 65_534;
const START_MS = 30_000;

/** As in the image: the program is somebody else's, and only `data` may be written to. */
const SETTINGS = {
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  PUBLIC_URL: 'https://api.example',
  METRICS_PORT: 'off',
  MIGRATE: '1',
  OTP_PEPPER: 'a pepper of at least 32 characters',
  SHUTDOWN_DELAY_MS: '0',
  SMS_SENDER: 'webhook',
  SMS_WEBHOOK_URL: 'https://127.0.0.1:9/',
  SMS_WEBHOOK_SECRET: 'a secret of 16 bytes or more',
};

const MAKE_READ_ONLY = 'mount -o remount,bind,ro /';

/** Makes the file system read-only but for the volume, in a namespace of its own, and goes on as nobody. */
const CONTAINED = [
  'mount --bind data data',
  MAKE_READ_ONLY,
  `exec setpriv --reuid=${NOBODY} --regid=${NOBODY} --clear-groups "$@"`,
].join(' && ');

/** A service whose user owns nothing but its volume. */
export interface Unprivileged {
  baseUrl: string;
  /** Its working directory, with the volume `data` in it. */
  folder: string;
  /** Of who wrote the database. */
  uid: number;
  /** Whether everything else is read-only. */
  isContained: boolean;
  output(): string;
  /** Answers the exit code. */
  stop(): Promise<number | null>;
  remove(): Promise<void>;
}

/** Starts the built service as nobody, where this process may; else as whoever runs the tests, where they may not write. */
export async function startUnprivileged(): Promise<Unprivileged> {
  const buildFailure = inject('buildFailure');
  if (buildFailure !== null) throw new Error(buildFailure);
  const isRoot = process.getuid?.() === 0;
  const folder = await mkdtemp(join(tmpdir(), 'platform-volume-'));
  await mkdir(join(folder, 'data'));
  if (isRoot) await chown(join(folder, 'data'), NOBODY, NOBODY);
  await chmod(folder, 0o555);
  const port = String(await freePort());
  const isContained = mayContain();
  const program = [process.execPath, resolve('dist/src/bundle/main.js')];
  const [command = '', ...parameters] = isContained
    ? ['unshare', '--mount', 'sh', '-c', CONTAINED, 'sh', ...program]
    : program;
  const child = spawn(command, parameters, {
    cwd: folder,
    // Neither a home nor a place for temporary files.
    env: { ...SETTINGS, PATH: process.env.PATH, PORT: port, HOME: folder, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(isRoot && !isContained && { uid: NOBODY, gid: NOBODY }),
  });
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const printed: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => printed.push(chunk));
  const remove = async (): Promise<void> => {
    child.kill('SIGKILL');
    await chmod(folder, 0o755);
    await rm(folder, { recursive: true });
  };
  const baseUrl = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + START_MS;
  while (!(await isReady(baseUrl))) {
    if (Date.now() > deadline || child.exitCode !== null) {
      await remove();
      throw new Error(`The service did not start.\n${printed.join('')}`);
    }
    await sleep(50);
  }
  const { uid } = await stat(join(folder, 'data', 'service.sqlite'));
  return {
    baseUrl,
    folder,
    uid,
    isContained,
    output: () => printed.join(''),
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
    remove,
  };
}

function mayContain(): boolean {
  const tried = spawnSync('unshare', [
    '--mount',
    'sh',
    '-c',
    `${MAKE_READ_ONLY} && setpriv --version`,
  ]);
  return tried.status === 0;
}

/** Every file below a folder. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

async function isReady(baseUrl: string): Promise<boolean> {
  const answer = await fetch(`${baseUrl}/readyz`).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.status === 200;
}
