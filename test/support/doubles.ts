import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Clock, later } from '../../src/common/clock.js';
import { SmsSender, type TextMessage } from '../../src/modules/oauth/sign-in/sms/sms-sender.js';

/** A clock that stands still until a test moves it. */
export class FixedClock extends Clock {
  constructor(private time = new Date('2026-11-21T09:30:00.000Z')) {
    super();
  }

  override now(): Date {
    return this.time;
  }

  /** Moves on by so many milliseconds. */
  advance(milliseconds: number): void {
    this.time = later(this.time, milliseconds);
  }

  set(time: string): void {
    this.time = new Date(time);
  }
}

/** A gateway that keeps what it is given, unless it is told to refuse. */
export class SmsInbox extends SmsSender {
  readonly messages: TextMessage[] = [];
  /** What it was given and refused. */
  readonly refused: TextMessage[] = [];
  private refusals = 0;
  private released = Promise.resolve();

  /** @param files where processes of the service send what they have to say, by `SMS_SENDER=file` */
  constructor(private readonly files: readonly string[] = []) {
    super();
  }

  override async send(message: TextMessage): Promise<void> {
    await this.released;
    if (this.refusals > 0) {
      this.refusals -= 1;
      this.refused.push(message);
      throw new Error('The gateway is out of order.');
    }
    this.messages.push(message);
  }

  /** Refuses so many messages from now on; 0 takes them again. */
  refuse(times = Infinity): void {
    this.refusals = times;
  }

  /** Answers nobody until what this returns is called. */
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

  /** The newest one-time password sent to this phone; waits for it, since messages are sent beside the request. */
  async password(phone: string, after = 0): Promise<string> {
    await expect.poll(() => this.count(phone), { timeout: 10_000 }).toBeGreaterThan(after);
    return /\b\d{6}\b/.exec(this.messagesTo(phone).at(-1)?.text ?? '')?.[0] ?? '';
  }

  /** The newest last, where one file at most has any. */
  private messagesTo(phone: string): TextMessage[] {
    const paths = [...new Set(this.files)].filter((path) => existsSync(path));
    const lines = paths.flatMap((path) => readFileSync(path, 'utf8').split('\n').slice(0, -1));
    const sent = lines.map((line) => JSON.parse(line) as TextMessage);
    return [...this.messages, ...sent].filter(({ to }) => to === phone);
  }
}

/** A file for the messages of a process, which is nobody else's and not there yet. */
export function newSmsFile(): string {
  return join(tmpdir(), `platform-sms-${randomBytes(6).toString('hex')}.jsonl`);
}
