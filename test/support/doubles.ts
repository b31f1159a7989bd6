import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Clock, addMilliseconds } from '../../src/platform/clock.js';
import { DatabaseClock } from '../../src/platform/database/database-status.js';
import { SmsSender, type TextMessage } from '../../src/modules/oauth/sign-in/sms/sms-senders.js';

/** A clock that changes only when a test sets or advances it. */
export class FixedClock extends Clock {
  private steppedBackMs = 0;

  constructor(private time = new Date('2026-11-21T09:30:00.000Z')) {
    super();
  }

  override machineTime(): number {
    return this.time.getTime();
  }

  override monotonic(): Date {
    return addMilliseconds(this.time, this.steppedBackMs);
  }

  advance(milliseconds: number): void {
    this.time = addMilliseconds(this.time, milliseconds);
  }

  set(time: string): void {
    const before = this.time;
    this.time = new Date(time);
    this.steppedBackMs += Math.max(0, before.getTime() - this.time.getTime());
  }
}

/** The clock of a database server, which follows that of the application until a test uses the real one. */
export class FollowingDatabaseClock extends DatabaseClock {
  private clock: Clock | undefined;

  follow(clock: Clock): void {
    this.clock = clock;
  }

  useReal(): void {
    this.clock = undefined;
  }

  override async now(): Promise<Date | null> {
    const time = await super.now();
    return time && (this.clock?.now() ?? time);
  }
}

/** An SMS gateway that stores messages in memory, or rejects them on demand. */
export class SmsInbox extends SmsSender {
  readonly messages: TextMessage[] = [];
  /** Messages that the gateway rejected. */
  readonly refused: TextMessage[] = [];
  private refusalsLeft = 0;
  private released = Promise.resolve();

  /** @param files to which processes of the service write their messages (`SMS_SENDER=file`) */
  constructor(private readonly files: readonly string[] = []) {
    super();
  }

  override async send(message: TextMessage): Promise<void> {
    await this.released;
    if (this.refusalsLeft > 0) {
      this.refusalsLeft -= 1;
      this.refused.push(message);
      throw new Error('The gateway is out of order.');
    }
    this.messages.push(message);
  }

  /** Rejects the next `times` messages, by default all. `refuse(0)` accepts messages again. */
  refuse(times = Infinity): void {
    this.refusalsLeft = times;
  }

  /** Delays every message until the returned function is called. */
  hold(): () => void {
    let release = (): void => undefined;
    this.released = new Promise((resolve) => {
      release = resolve;
    });
    return release;
  }

  count(phone: string): number {
    return this.messagesTo(phone).length;
  }

  /** Waits for the newest one-time password and returns it. Waits because the service sends messages after its response. */
  async password(phone: string, { afterMessages = 0 } = {}): Promise<string> {
    await expect.poll(() => this.count(phone), { timeout: 10_000 }).toBeGreaterThan(afterMessages);
    return /\b\d{6}(?:\d\d)?\b/.exec(this.messagesTo(phone).at(-1)?.text ?? '')?.[0] ?? '';
  }

  /** The messages to a phone, oldest first if at most one file has messages. */
  messagesTo(phone: string): TextMessage[] {
    const paths = [...new Set(this.files)].filter((path) => existsSync(path));
    const lines = paths.flatMap((path) => readFileSync(path, 'utf8').split('\n').slice(0, -1));
    const sent = lines.map((line) => JSON.parse(line) as TextMessage);
    return [...this.messages, ...sent].filter(({ to }) => to === phone);
  }
}

const smsFiles: string[] = [];
process.once('exit', () => {
  for (const path of smsFiles) rmSync(path, { force: true });
});

/** The path of a new file for the messages of a process. The file is deleted when the tests end. */
export function newSmsFile(): string {
  const path = join(tmpdir(), `platform-sms-${randomBytes(6).toString('hex')}.jsonl`);
  smsFiles.push(path);
  return path;
}
