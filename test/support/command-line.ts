import { execFile } from 'node:child_process';
import { Readable } from 'node:stream';
import type { Command } from 'commander';
import { inject } from 'vitest';
import { commandLine, runCommandLine } from '../../src/cli/program.js';
import type { TestDatabase } from './database.js';

/** The time limit of a command. */
const LONGEST_MS = 20_000;

/** The result of a command. */
export interface CommandResult {
  /** The exit code, or -1 when the command was killed. */
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the built command line in its own process, without a terminal and with `input` on standard input. */
export function runCommandProcess(
  args: readonly string[],
  env: Record<string, string> = {},
  input = '',
): Promise<CommandResult> {
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

/** Runs the command line in this process, which saves the start of a process: most of the duration of a command. */
export async function runCommand(
  args: readonly string[],
  env: Record<string, string> = {},
  input = '',
): Promise<CommandResult> {
  const printed = { stdout: '', stderr: '' };
  const code = await runCommandLine(args, {
    env: { NODE_ENV: 'test', ...env },
    stdin: Readable.from([input]),
    stdout: { write: (text) => (printed.stdout += text) },
    stderr: { write: (text) => (printed.stderr += text) },
  });
  return { code, ...printed };
}

/** The command line on one database. Commands that run concurrently need their own processes (`runCommandProcess`). */
export class CommandLine {
  constructor(
    private readonly database: Pick<TestDatabase, 'url'>,
    private readonly start = runCommand,
  ) {}

  run(...args: string[]): Promise<CommandResult> {
    return this.start(args, { DATABASE_URL: this.database.url });
  }

  /** Like the method above, with `input` on standard input. */
  runWith(input: string, ...args: string[]): Promise<CommandResult> {
    return this.start(args, { DATABASE_URL: this.database.url }, input);
  }

  /** Parses the output with `--json`. @throws when the command fails or writes to standard error */
  json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    return this.jsonWith<T>('', ...args);
  }

  /** Like the method above, with `input` on standard input. */
  async jsonWith<T = Record<string, unknown>>(input: string, ...args: string[]): Promise<T> {
    const outcome = await this.runWith(input, ...args, '--json');
    if (outcome.code !== 0 || outcome.stderr !== '')
      throw new Error(`"${args.join(' ')}" ended with ${outcome.code}: ${outcome.stderr}`);
    return JSON.parse(outcome.stdout) as T;
  }
}

export interface TreeEntry {
  /** The words of the command, such as `app secret list`. */
  readonly path: string;
  readonly command: Command;
  /** Its line in the help of its group. */
  readonly summary: string;
}

const SILENT = { write: () => undefined };

/** Every command group and every command, in the order of the help. */
export function commandTree(): { groups: TreeEntry[]; leaves: TreeEntry[] } {
  const program = commandLine({
    env: {},
    stdin: Readable.from([]),
    stdout: SILENT,
    stderr: SILENT,
  });
  const all = below(program, '');
  const isGroup = ({ command }: TreeEntry): boolean => command.commands.length > 0;
  return {
    groups: [entry(program, ''), ...all.filter(isGroup)],
    leaves: all.filter((one) => !isGroup(one)),
  };
}

/** The options of a command, such as `--reason`, without the global options. */
export function optionsOf({ command }: TreeEntry): string[] {
  return command.options.map(({ long }) => long ?? '');
}

function below(group: Command, path: string): TreeEntry[] {
  return group.commands.flatMap((command) => {
    const own = `${path} ${command.name()}`.trim();
    return [entry(command, own), ...below(command, own)];
  });
}

function entry(command: Command, path: string): TreeEntry {
  return { path, command, summary: command.summary() || command.description() };
}

export interface Finding {
  check: string;
  status: 'ok' | 'warning' | 'failed';
  summary: string;
  remedy?: string;
}

/** Runs `doctor --json` and returns its findings. @throws when the exit code does not match them */
export async function runDoctor(cli: CommandLine, ...args: string[]): Promise<Finding[]> {
  return parseFindings(await cli.run('doctor', '--json', ...args));
}

/** Parses the findings of `doctor --json`. @throws when the exit code does not match them */
export function parseFindings({ code, stdout, stderr }: CommandResult): Finding[] {
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] };
  const failures = findings.filter(({ status }) => status === 'failed').length;
  const sentence = failures === 1 ? '1 check failed.\n' : `${failures} checks failed.\n`;
  const expected = failures === 0 ? [true, 0, ''] : [false, 1, sentence];
  if (JSON.stringify([ok, code, stderr]) !== JSON.stringify(expected))
    throw new Error(`It ended with ${code}: ${stderr}${stdout}`);
  return findings;
}
