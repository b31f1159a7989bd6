import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';
import { SECOND } from '../clock.js';

/** While a write is running or the reader stalls, further lines wait. If they would exceed this size, they are dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** A reader that stalls is tried again after this time. */
const RETRY_MS = 100;
/** Maximum time for which the end of the process waits for a reader that stalls. */
const MAX_FLUSH_MS = SECOND;

const LINE_FEED = 0x0a;

/** Writes a part of the buffer, like `write` of `node:fs`. */
export type WriteFunction = (
  buffer: Buffer,
  done: (error: NodeJS.ErrnoException | null, written: number) => void,
) => void;

/**
 * Writes log lines asynchronously. Drops and counts the lines that cannot be written, because requests must not depend on the log: its
 * disk may be full, its reader may have ended or stall. Each later line is tried again, so writing resumes by itself.
 *
 * Not the destination of pino, which repeats a write that fails for ever and blocks the end of the process.
 */
export class LogDestination implements DestinationStream {
  private lines: string[] = [];
  private waitingBytes = 0;
  /** The rest of the lines that are being written. */
  private writing: Buffer | undefined;
  private isInFlight = false;
  /** Whether the last line was written in part, so that the next one needs a line of its own. */
  private isTorn = false;
  private dropped = 0;

  constructor(
    private readonly writePart: WriteFunction,
    private readonly maxWaitingBytes = MAX_WAITING_BYTES,
  ) {}

  /** Number of lines that were dropped since the start. */
  get droppedLines(): number {
    return this.dropped;
  }

  write(line: string): void {
    if (this.waitingBytes + line.length > this.maxWaitingBytes) {
      this.dropped += 1;
      return;
    }
    this.lines.push(line);
    this.waitingBytes += line.length;
    if (this.writing === undefined) this.writeNext();
  }

  /** The lines that wait, for the end of the process. A write that is in flight completes before the process ends. */
  takeWaiting(): Buffer {
    const rest = this.isInFlight || !this.writing ? [] : [this.writing];
    return Buffer.concat([...rest, this.takeLines()]);
  }

  private writeNext(): void {
    if (this.lines.length === 0) return;
    this.writing = this.takeLines();
    this.writeRest(this.writing);
  }

  private takeLines(): Buffer {
    const text = this.lines.join('');
    this.lines = [];
    this.waitingBytes = 0;
    return Buffer.from(this.isTorn ? `\n${text}` : text);
  }

  private writeRest(buffer: Buffer): void {
    this.isInFlight = true;
    this.writePart(buffer, (error, written) => {
      this.isInFlight = false;
      if (error?.code === 'EAGAIN') {
        setTimeout(() => this.writeRest(buffer), RETRY_MS).unref();
        return;
      }
      if (written > 0) this.isTorn = buffer[written - 1] !== LINE_FEED;
      const rest = buffer.subarray(written);
      this.writing = !error && rest.length > 0 ? rest : undefined;
      if (error) this.dropped += countLines(rest);
      if (this.writing) this.writeRest(this.writing);
      else this.writeNext();
    });
  }
}

function countLines(buffer: Buffer): number {
  let count = 0;
  for (const byte of buffer) if (byte === LINE_FEED) count += 1;
  return count;
}

/** Writes as much as the file descriptor accepts within a second. */
function flush(fd: number, text: Buffer): void {
  const deadline = performance.now() + MAX_FLUSH_MS;
  const timer = new Int32Array(new SharedArrayBuffer(4));
  let rest = text;
  while (rest.length > 0 && performance.now() < deadline) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      Atomics.wait(timer, 0, 0, RETRY_MS);
    }
  }
}

const STANDARD_OUTPUT = 1;

/** The log on standard output. Lines that wait at the end of the process are flushed for up to a second. */
export const standardOutput = new LogDestination((buffer, done) =>
  write(STANDARD_OUTPUT, buffer, done),
);

/*
 * Using `process.stdout` makes Node set a pipe to non-blocking. Otherwise, a reader that stalls would block a thread of Node's pool, for
 * which the end of the process waits. Without a listener, an error of the stream would end the process.
 */
process.stdout.on('error', () => undefined);
process.once('exit', () => flush(STANDARD_OUTPUT, standardOutput.takeWaiting()));
