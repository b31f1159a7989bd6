import { type EventEmitter, once } from 'node:events';
import { userInfo } from 'node:os';
import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { WriteStream } from 'node:tty';
import { visible } from './command.js';

/** A stream that takes text; `write` answers false when it must be waited for. */
export interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Where a command reads and writes: the streams of `process`, or what stands for them. */
export interface Streams {
  readonly stdin: AsyncIterable<string | Buffer>;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** Goes to the start of the line and clears it. */
export const CLEAR = '\r\x1b[K';
/** A line of progress that is replaced more often cannot be read. */
const PROGRESS_MS = 100;

/** The streams of one command: results on standard output, everything else on standard error. */
export class Terminal {
  private readonly showsProgress: boolean;
  private progressAt = 0;
  private hasProgress = false;

  constructor(
    private readonly streams: Streams,
    { json = false }: { json?: boolean },
  ) {
    this.showsProgress = streams.stderr.isTTY === true && !json;
  }

  get input(): Streams['stdin'] {
    return this.streams.stdin;
  }

  async print(text: string): Promise<void> {
    this.clear();
    const { stdout } = this.streams;
    if (stdout.write(visible(text)) === false) await once(stdout as Output & EventEmitter, 'drain');
  }

  say(sentence: string): void {
    this.clear();
    this.streams.stderr.write(`${visible(sentence)}\n`);
  }

  progress(text: string): void {
    if (!this.showsProgress || Date.now() - this.progressAt < PROGRESS_MS) return;
    this.progressAt = Date.now();
    this.hasProgress = true;
    this.streams.stderr.write(`${CLEAR}${visible(text)}`);
  }

  /** Takes the progress away, so that what follows has the line for itself. */
  clear(): void {
    if (this.hasProgress) this.streams.stderr.write(CLEAR);
    this.hasProgress = false;
  }

  async readLine(): Promise<string> {
    let read = '';
    for await (const part of this.streams.stdin) {
      read += part.toString();
      if (read.includes('\n')) break;
    }
    return read.split('\n', 1).join('').trim();
  }
}

/** The operator said no. */
export class Declined extends Error {
  constructor() {
    super('Nothing was changed.');
  }
}

/** The name of the operating system's user, or the number of one without a name, as containers have. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Whether somebody sits in front of this process and can answer, wherever its results and messages go. */
export function isAttended(): boolean {
  return process.stdin.isTTY;
}

/** Asks on the terminal; anything but yes, the end of the input included, is a no. @throws Declined */
export async function askToConfirm(question: string): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: screen() });
  const answer = await answerOn(terminal, `${visible(question)} [y/N] `);
  if (!/^y(es)?$/i.test(answer)) throw new Declined();
}

/** Asks on the terminal, and does not show what is typed: the terminal's echo is off, and readline's goes nowhere. */
export async function askUnseen(question: string): Promise<string> {
  const shown = screen();
  shown.write(`${visible(question)} `);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  const answer = await answerOn(terminal, '');
  shown.write('\n');
  return answer;
}

/** Standard error, or what is typed at where that goes elsewhere, as with `2>&1 | tee`: a question that nobody sees is none. */
function screen(): WriteStream {
  return process.stderr.isTTY ? process.stderr : new WriteStream(process.stdin.fd);
}

/** What is typed in one line, or nothing at the end of the input. */
async function answerOn(terminal: Interface, question: string): Promise<string> {
  const answer = await new Promise<string>((resolve) => {
    terminal.once('close', () => resolve(''));
    terminal.question(question).then(resolve, () => resolve(''));
  });
  terminal.close();
  return answer.trim();
}
