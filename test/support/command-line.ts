import { execFile } from 'node:child_process';
import { Readable } from 'node:stream';
import { inject } from 'vitest';
import { runCommandLine } from '../../src/command-line-program.js';
import type { TestDatabase } from './engines.js';

/** Longer than any command may take; one that still runs then hangs. */
const LONGEST_MS = 20_000;

/** What a command left behind. */
export interface Outcome {
  /** The exit code, or -1 when the command had to be killed. */
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the built command line as a process of its own, without a terminal and with `input` on standard input. */
export function runProcess(
  args: readonly string[],
  env: Record<string, string> = {},
  input = '',
): Promise<Outcome> {
  const buildFailure = inject('buildFailure');
  if (buildFailure !== null) throw new Error(buildFailure);
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['dist/src/bundle/cli.js', ...args],
      { env: { PATH: process.env.PATH, NODE_ENV: 'test', ...env }, timeout: LONGEST_MS },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
    child.stdin?.end(input);
  });
}

/** Runs the command line within this process, which saves the start of another one: most of the time that a command takes. */
export async function run(
  args: readonly string[],
  env: Record<string, string> = {},
  input = '',
): Promise<Outcome> {
  const printed = { stdout: '', stderr: '' };
  const code = await runCommandLine(args, {
    env: { NODE_ENV: 'test', ...env },
    stdin: Readable.from([input]),
    stdout: { write: (text) => (printed.stdout += text) },
    stderr: { write: (text) => (printed.stderr += text) },
  });
  return { code, ...printed };
}

/** The command line on one database. Commands at the same time as others or as requests need processes of their own. */
export class CommandLine {
  constructor(
    private readonly database: Pick<TestDatabase, 'url'>,
    private readonly start = run,
  ) {}

  run(...args: string[]): Promise<Outcome> {
    return this.start(args, { DATABASE_URL: this.database.url });
  }

  /** The same with `input` on standard input. */
  runWith(input: string, ...args: string[]): Promise<Outcome> {
    return this.start(args, { DATABASE_URL: this.database.url }, input);
  }

  /** What the command prints with `--json`; @throws when the command fails, or says anything else */
  json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    return this.jsonWith<T>('', ...args);
  }

  /** The same with `input` on standard input. */
  async jsonWith<T = Record<string, unknown>>(input: string, ...args: string[]): Promise<T> {
    const outcome = await this.runWith(input, ...args, '--json');
    if (outcome.code !== 0 || outcome.stderr !== '')
      throw new Error(`"${args.join(' ')}" ended with ${outcome.code}: ${outcome.stderr}`);
    return JSON.parse(outcome.stdout) as T;
  }
}
