import { execFile } from 'node:child_process';
import { inject } from 'vitest';
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

/** Runs the built command line as a process of its own, without a terminal and with nothing on standard input. */
export function run(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  const buildFailure = inject('buildFailure');
  if (buildFailure !== null) throw new Error(buildFailure);
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['dist/src/cli.js', ...args],
      { env: { PATH: process.env.PATH, NODE_ENV: 'test', ...env }, timeout: LONGEST_MS },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
    child.stdin?.end();
  });
}

/** The command line on one database. */
export class CommandLine {
  constructor(private readonly database: Pick<TestDatabase, 'url'>) {}

  run(...args: string[]): Promise<Outcome> {
    return run(args, { DATABASE_URL: this.database.url });
  }

  /** What the command prints with `--json`; @throws when the command fails, or says anything else */
  async json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    const outcome = await this.run(...args, '--json');
    if (outcome.code !== 0 || outcome.stderr !== '')
      throw new Error(`"${args.join(' ')}" ended with ${outcome.code}: ${outcome.stderr}`);
    return JSON.parse(outcome.stdout) as T;
  }
}
