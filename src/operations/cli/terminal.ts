import { once, type EventEmitter } from 'node:events';
import { visible } from '../../command-line/visible.js';

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
