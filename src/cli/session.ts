import { userInfo } from 'node:os';
import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { WriteStream } from 'node:tty';
import type { INestApplicationContext } from '@nestjs/common';
import type { Change } from '../platform/audit/audit-log.repository.js';
import { escapeInvisible } from '../platform/text.js';
import { list } from './tables.js';
import { terminalTime } from './times.js';

/** A stream of text; `write` calls `done` once the text is written, or with the error. */
interface Output {
  readonly isTTY?: boolean;
  /** Width of a terminal. Undefined or 0 if the terminal does not report it. */
  readonly columns?: number;
  write(text: string, done?: (error?: Error | null) => void): unknown;
}

/** The environment and the streams of a command: `process`, or those of a test. */
export interface CliContext {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: AsyncIterable<string | Buffer>;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** The options that several commands share. Only commands that define them have `reason` and `dryRun`; the others are global. */
export interface SharedOptions {
  json?: boolean;
  actor?: string;
  reason?: string;
  dryRun?: boolean;
  yes?: boolean;
}

/** An expected failure, reported without a stack trace. */
export class CommandFailed extends Error {}

/** A destructive command without `--yes` that cannot ask for confirmation. A usage error. */
export class ConfirmationRequired extends CommandFailed {
  constructor() {
    super(
      'Standard input is not a terminal, so the command cannot ask for confirmation. Add --yes to confirm.',
    );
  }
}

/** The operator pressed Ctrl-C at a prompt. */
export class Interrupted extends CommandFailed {
  constructor() {
    super('Interrupted. Nothing was changed.');
  }
}

/** The result of a command. Standard output gets `json` with `--json`, else `text`. */
export interface Result {
  json: object;
  text: string;
  /** Printed on standard error, except with `--json`. */
  note?: string;
  /** Printed on standard error after the result; the exit code is 1. */
  failure?: string;
}

type Services = typeof import('./lazy-services.js');

/** Moves the cursor to the start of the line and clears the line. */
export const CLEAR_LINE = '\r\x1b[K';
const PROGRESS_INTERVAL_MS = 100;
const DEFAULT_WIDTH = 80;
/** Wraps text to this width in a narrower terminal, so that every column has room. */
const MIN_WIDTH = 40;

/** One run of a command: the application, the shared options and the terminal. */
export class Session {
  private lastProgressAt = 0;
  private hasProgress = false;

  constructor(
    readonly context: CliContext,
    private readonly options: SharedOptions,
    private readonly application: Pick<INestApplicationContext, 'get'>,
    private readonly services: Services,
  ) {}

  /** Actor and reason for the audit log. The user of the operating system stands beside an actor that the operator has named. */
  get change(): Change {
    const { actor, reason } = this.options;
    const osUser = systemUser();
    return actor === undefined ? { actor: osUser, reason } : { actor, osUser, reason };
  }

  /** Whether the command only shows what it would change. */
  get isDryRun(): boolean {
    return this.options.dryRun === true;
  }

  /** Whether the result is printed as JSON. */
  get printsJson(): boolean {
    return this.options.json === true;
  }

  /** Whether the result goes to a terminal, not to a pipe or a file. */
  get isTerminal(): boolean {
    return this.context.stdout.isTTY === true;
  }

  /** The maximum width of tables on standard output: that of the terminal. A pipe or a file gets every value on one line, in full. */
  get width(): number {
    const { columns = 0 } = this.context.stdout;
    if (!this.isTerminal) return Infinity;
    return columns === 0 ? DEFAULT_WIDTH : Math.max(columns, MIN_WIDTH);
  }

  /**
   * A time in the text of a result; `never` for null. A terminal also shows how long ago it is; a pipe or a file gets ISO 8601 only, as
   * in JSON.
   */
  time(time: Date | null): string {
    if (!time) return 'never';
    return this.isTerminal ? terminalTime(time, new Date()) : time.toISOString();
  }

  /** `list` with the width of the terminal. @param none the text for a list without records */
  list(header: readonly string[], records: readonly (readonly string[])[], none: string): string {
    return list(header, records, { width: this.width, none });
  }

  /** Id and name of an app, such as `svc_app_… (Garden Share)`. */
  async appLabel(clientId: string): Promise<string> {
    const app = await this.get('AppsService').find(clientId);
    return app ? `${clientId} (${app.name})` : clientId;
  }

  /** Id and name of a user, such as `usr_… (Ana Lee)`. Only the id of an erased user. */
  async userLabel(userId: string): Promise<string> {
    const user = await this.get('UsersService').author(userId);
    return user ? `${userId} (${user.name})` : userId;
  }

  /** A service of the application. @throws the start error if the application failed to start */
  get<K extends keyof Services>(name: K): InstanceType<Services[K]> {
    return this.application.get<InstanceType<Services[K]>>(this.services[name]);
  }

  /**
   * Asks for confirmation at a terminal, unless `--yes` or `--dry-run` is given.
   * @throws CommandFailed if the operator does not confirm; Interrupted on Ctrl-C
   * @throws ConfirmationRequired without a terminal
   */
  async confirm(question: string): Promise<void> {
    if (this.options.yes === true || this.isDryRun) return;
    if (!process.stdin.isTTY) throw new ConfirmationRequired();
    this.clearProgress();
    const output = terminalOutput();
    const terminal = createInterface({ input: process.stdin, output });
    let answer: string | undefined;
    try {
      answer = await ask(terminal, `${escapeInvisible(question)} [y/N] `);
    } finally {
      // Ctrl-C and Ctrl-D leave the cursor behind the question.
      if (answer === undefined) output.write('\n');
    }
    if (!/^y(es)?$/i.test(answer ?? '')) throw new CommandFailed('Cancelled. Nothing was changed.');
  }

  /**
   * Reads a secret from the first line of standard input, trimmed and possibly empty. Secrets are never arguments, because other
   * users of the machine can see arguments. A terminal shows the prompt and hides the input.
   */
  async readSecret(prompt: string): Promise<string> {
    if (!process.stdin.isTTY) return firstLine(this.context.stdin);
    const output = terminalOutput();
    output.write(`${escapeInvisible(prompt)} `);
    const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
    const terminal = createInterface({ input: process.stdin, output: discard, terminal: true });
    try {
      return (await ask(terminal, '')) ?? '';
    } finally {
      output.write('\n');
    }
  }

  /** Prints the result of the command. Commands call it only to print before the end of a transaction. */
  async show({ json, text, note }: Result): Promise<void> {
    await this.print(`${this.printsJson ? JSON.stringify(json) : text}\n`);
    if (note !== undefined && !this.printsJson) this.printNote(note);
  }

  /** Writes a result, or a part of one, to standard output. Resolves once it is written. */
  print(text: string): Promise<void> {
    this.clearProgress();
    return new Promise((resolve, reject) => {
      this.context.stdout.write(escapeInvisible(text), (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  }

  /** Writes a line to standard error. */
  printNote(note: string): void {
    this.clearProgress();
    this.context.stderr.write(`${escapeInvisible(note)}\n`);
  }

  /** Updates the progress line at a terminal, except with `--json`. Ignores calls within 100 ms of the last update. */
  progress(text: string): void {
    const { stderr } = this.context;
    if (!stderr.isTTY || this.printsJson || Date.now() - this.lastProgressAt < PROGRESS_INTERVAL_MS)
      return;
    this.lastProgressAt = Date.now();
    this.hasProgress = true;
    stderr.write(`${CLEAR_LINE}${escapeInvisible(text)}`);
  }

  clearProgress(): void {
    if (this.hasProgress) this.context.stderr.write(CLEAR_LINE);
    this.hasProgress = false;
  }
}

/** The name of the operating system user; the user id if there is no name, as in some containers. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** The terminal, even if standard error is redirected, as with `2>&1 | tee`: the operator must see the prompt. */
function terminalOutput(): WriteStream {
  return process.stderr.isTTY ? process.stderr : new WriteStream(process.stdin.fd);
}

/** Reads one line, trimmed; undefined at the end of the input. @throws Interrupted on Ctrl-C */
async function ask(terminal: Interface, prompt: string): Promise<string | undefined> {
  try {
    return await new Promise((resolve, reject) => {
      terminal.once('SIGINT', () => reject(new Interrupted()));
      terminal.once('close', () => resolve(undefined));
      terminal.question(prompt).then(
        (line) => resolve(line.trim()),
        () => resolve(undefined),
      );
    });
  } finally {
    terminal.close();
  }
}

async function firstLine(input: CliContext['stdin']): Promise<string> {
  let text = '';
  for await (const chunk of input) {
    text += chunk.toString();
    if (text.includes('\n')) break;
  }
  return text.split('\n', 1).join('').trim();
}
