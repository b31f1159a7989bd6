import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../test/support/free-port.js';

const START_MS = 30_000;
const STOP_MS = 15_000;
/** Of Linux' process accounting. */
const TICKS_PER_SECOND = 100;

/** A server under load: the service or a peer, in a process of its own. */
export interface Program {
  name: string;
  baseUrl: string;
  pid: number;
  stop(): Promise<void>;
}

/** Starts a Node program that listens on `PORT`, and waits until it does. @throws with what it printed as an error */
export async function startProgram(
  name: string,
  file: string,
  env: Readonly<Record<string, string>>,
  nodeOptions: readonly string[] = [],
): Promise<Program> {
  const port = await freePort();
  const child = spawn(process.execPath, [...nodeOptions, file], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', PORT: String(port), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const deadline = Date.now() + START_MS;
  while (!(await listens(port))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await end(child);
      throw new Error(`${name} did not start.\n${errors}`);
    }
    await sleep(10);
  }
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} has no process.`);
  return { name, baseUrl: `http://127.0.0.1:${port}`, pid, stop: () => end(child) };
}

/** Seconds of processor time that a process has taken; undefined where that is not told. */
export function processorSeconds(pid: number | undefined): number | undefined {
  if (pid === undefined) return undefined;
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const impatient = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(impatient);
}
