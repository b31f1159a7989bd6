import { type EventEmitter, once } from 'node:events';
import { userInfo } from 'node:os';
import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { WriteStream } from 'node:tty';
import type { INestApplicationContext } from '@nestjs/common';
import type { Change } from '../platform/audit/audit-log.repository.js';
import { visible } from './tables.js';

/** A stream of text; `write` returns false when the next write must wait for `drain`. */
interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** The environment and the streams of a command: `process`, or a test's own. */
export interface CliContext {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: AsyncIterable<string | Buffer>;
  readonly stdout: Output;
  readonly stderr: Output;
}

export interface GlobalOptions {
  json?: boolean;
  actor?: string;
  reason?: string;
  yes?: boolean;
}

/** A failure that its message explains: no stack trace is shown. */
export class CommandFailed extends Error {}

type Services = typeof import('./services.js');

/** Goes to the start of the line and clears it. */
export const CLEAR = '\r\x1b[K';
const PROGRESS_INTERVAL_MS = 100;

/** One run of a command: the application, the operator's options and the terminal. */
export class Session {
  private lastProgressAt = 0;
  private hasProgress = false;

  constructor(
    readonly context: CliContext,
    private readonly options: GlobalOptions,
    private readonly application: Pick<INestApplicationContext, 'get'>,
    private readonly services: Services,
  ) {}

  /** Author and reason of a change, for the audit log. */
  get change(): Change {
    const { actor = systemUser(), reason } = this.options;
    return { actor, reason };
  }

  get json(): boolean {
    return this.options.json === true;
  }

  /** A service of the application. @throws the reason why the application did not start */
  get<K extends keyof Services>(name: K): InstanceType<Services[K]> {
    return this.application.get<InstanceType<Services[K]>>(this.services[name]);
  }

  /** Asks an operator at a terminal, unless `--yes` or `--json` is given. @throws CommandFailed after any answer but yes */
  async confirm(question: string): Promise<void> {
    if (this.options.yes === true || this.json || !process.stdin.isTTY) return;
    const terminal = createInterface({ input: process.stdin, output: screen() });
    const answer = await askOn(terminal, `${visible(question)} [y/N] `);
    if (!/^y(es)?$/i.test(answer)) throw new CommandFailed('Nothing was changed.');
  }

  /**
   * The first line of standard input, trimmed and possibly empty: for a secret, which is never an argument. A terminal shows
   * the question and not what is typed.
   */
  async readSecret(question: string): Promise<string> {
    if (!process.stdin.isTTY) return firstLine(this.context.stdin);
    const output = screen();
    output.write(`${visible(question)} `);
    const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
    const terminal = createInterface({ input: process.stdin, output: discard, terminal: true });
    const answer = await askOn(terminal, '');
    output.write('\n');
    return answer;
  }

  /** Writes a part of a result to standard output, and waits for a slow reader. */
  async print(text: string): Promise<void> {
    this.clearProgress();
    const { stdout } = this.context;
    if (stdout.write(visible(text)) === false) await once(stdout as Output & EventEmitter, 'drain');
  }

  /** Writes a line to standard error. */
  say(sentence: string): void {
    this.clearProgress();
    this.context.stderr.write(`${visible(sentence)}\n`);
  }

  /** Shows the progress of a long command in one line, at a terminal without `--json`. */
  progress(text: string): void {
    const { stderr } = this.context;
    if (!stderr.isTTY || this.json || Date.now() - this.lastProgressAt < PROGRESS_INTERVAL_MS)
      return;
    this.lastProgressAt = Date.now();
    this.hasProgress = true;
    stderr.write(`${CLEAR}${visible(text)}`);
  }

  clearProgress(): void {
    if (this.hasProgress) this.context.stderr.write(CLEAR);
    this.hasProgress = false;
  }
}

/** A user without a name, as in a container, has only a number. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** The terminal, also where standard error is redirected, as with `2>&1 | tee`: the operator must see the question. */
function screen(): WriteStream {
  return process.stderr.isTTY ? process.stderr : new WriteStream(process.stdin.fd);
}

/** The line that is typed, or an empty text at the end of the input. */
async function askOn(terminal: Interface, question: string): Promise<string> {
  const answer = await new Promise<string>((resolve) => {
    terminal.once('close', () => resolve(''));
    terminal.question(question).then(resolve, () => resolve(''));
  });
  terminal.close();
  return answer.trim();
}

async function firstLine(input: CliContext['stdin']): Promise<string> {
  let read = '';
  for await (const part of input) {
    read += part.toString();
    if (read.includes('\n')) break;
  }
  return read.split('\n', 1).join('').trim();
}
