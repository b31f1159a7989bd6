import { execFile } from 'node:child_process';
import { Readable } from 'node:stream';
import { expect, inject } from 'vitest';
import type { CliCommand } from '../../src/cli/command.js';
import { commandLine, runCommandLine } from '../../src/cli/program.js';
import { expectNoCredential } from './invariants.js';
import type { TestDatabase } from './database.js';
import { memberDifferences } from './json-members.js';

const COMMAND_TIMEOUT_MS = 20_000;

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
      { env: { PATH: process.env.PATH, NODE_ENV: 'test', ...env }, timeout: COMMAND_TIMEOUT_MS },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
    child.stdin?.end(input);
  });
}

/**
 * Runs the command line in this process. Starting a process would take most of the time of a command.
 * @param columns the width of a terminal as standard output; undefined for a pipe
 */
export async function runCommand(
  args: readonly string[],
  env: Record<string, string> = {},
  input = '',
  columns?: number,
): Promise<CommandResult> {
  const output = { stdout: '', stderr: '' };
  const code = await runCommandLine(args, {
    env: { NODE_ENV: 'test', ...env },
    stdin: Readable.from([input]),
    stdout: {
      isTTY: columns !== undefined,
      columns,
      write: (text, done) => {
        output.stdout += text;
        done?.();
      },
    },
    stderr: { write: (text) => (output.stderr += text) },
  });
  return { code, ...output };
}

/** Settings for an erasure that waits for six seconds instead of 46, for requests of a service with the same settings. */
export const SHORT_REQUESTS = {
  REQUEST_TIMEOUT_MS: '100',
  DB_QUEUE_TIMEOUT_MS: '1',
  DB_TIMEOUT_MS: '500',
};

/**
 * Runs commands on one database, and compares each JSON result with the members that the help of its command names. Concurrent
 * commands need their own processes (`runCommandProcess`).
 */
export class CommandLine {
  constructor(
    private readonly database: Pick<TestDatabase, 'url'>,
    private readonly start: typeof runCommand = runCommand,
    private readonly env: Readonly<Record<string, string>> = {},
  ) {}

  run(...args: string[]): Promise<CommandResult> {
    return this.runWithInput('', ...args);
  }

  /** Like `run`, with a terminal of this width as standard output. */
  runAtTerminal(columns: number, ...args: string[]): Promise<CommandResult> {
    return this.start(args, { ...this.env, DATABASE_URL: this.database.url }, '', columns);
  }

  /** Like `run`, with `input` on standard input. */
  async runWithInput(input: string, ...args: string[]): Promise<CommandResult> {
    const env = { ...this.env, DATABASE_URL: this.database.url };
    const result = await this.start(args, env, input);
    if (args.includes('--json') && result.stdout !== '') expectDeclaredMembers(args, result.stdout);
    return result;
  }

  /** Runs a command with `--json` and parses its output. @throws when it fails or writes to standard error */
  json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    return this.jsonWithInput<T>('', ...args);
  }

  /** Like `json`, with `input` on standard input. */
  async jsonWithInput<T = Record<string, unknown>>(input: string, ...args: string[]): Promise<T> {
    const result = await this.runWithInput(input, ...args, '--json');
    if (result.code !== 0 || result.stderr !== '')
      throw new Error(`"${args.join(' ')}" exited with ${result.code}: ${result.stderr}`);
    return JSON.parse(result.stdout) as T;
  }
}

/** Asserts that a command failed with this sentence, on one line, and printed no client secret. */
export function expectFailure(outcome: CommandResult, sentence: string | RegExp): void {
  expect(outcome).toMatchObject({ code: 1, stdout: '' });
  expect(outcome.stderr).toMatch(sentence);
  expect(outcome.stderr.trim().split('\n')).toHaveLength(1);
  expectNoCredential(outcome.stderr, 'Standard error');
}

export interface CommandEntry {
  /** Such as `app secret list`. */
  readonly path: string;
  readonly command: CliCommand;
  /** Its line in the help of its group. */
  readonly summary: string;
}

function expectDeclaredMembers(args: readonly string[], stdout: string): void {
  const words = `${args.join(' ')} `;
  const found = commandTree().leaves.find(({ path }) => words.startsWith(`${path} `));
  if (!found) throw new Error(`No command is called like "${words}".`);
  const differences = memberDifferences(found.command.jsonMembers ?? '', JSON.parse(stdout));
  if (differences.length > 0)
    throw new Error(`The JSON of "${found.path}" is not as declared: ${differences.join(', ')}.`);
}

const SILENT = { write: () => undefined };

/** Every command group and every command, in the order of the help. */
export function commandTree(): { groups: CommandEntry[]; leaves: CommandEntry[] } {
  const program = commandLine({
    env: {},
    stdin: Readable.from([]),
    stdout: SILENT,
    stderr: SILENT,
  });
  const all = descendantsOf(program, '');
  const isGroup = ({ command }: CommandEntry): boolean => command.commands.length > 0;
  return {
    groups: [entry(program, ''), ...all.filter(isGroup)],
    leaves: all.filter((one) => !isGroup(one)),
  };
}

/** The options of a command, such as `--reason`, without the global options. */
export function optionsOf({ command }: CommandEntry): string[] {
  return command.options.map(({ long }) => long ?? '');
}

function descendantsOf(group: CliCommand, path: string): CommandEntry[] {
  return (group.commands as readonly CliCommand[]).flatMap((command) => {
    const own = `${path} ${command.name()}`.trim();
    return [entry(command, own), ...descendantsOf(command, own)];
  });
}

function entry(command: CliCommand, path: string): CommandEntry {
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
    throw new Error(`"doctor" exited with ${code}: ${stderr}${stdout}`);
  return findings;
}
