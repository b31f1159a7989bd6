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

/** A gateway that keeps what it is given. */
export class SmsInbox extends SmsSender {
  readonly messages: TextMessage[] = [];

  override async send(message: TextMessage): Promise<void> {
    this.messages.push(message);
  }

  /** The newest one-time password sent to this phone; waits for it, since messages are sent beside the request. */
  async password(phone: string): Promise<string> {
    await expect.poll(() => this.newestTo(phone)).toBeDefined();
    return /\b\d{6}\b/.exec(this.newestTo(phone)?.text ?? '')?.[0] ?? '';
  }

  private newestTo(phone: string): TextMessage | undefined {
    return this.messages.findLast(({ to }) => to === phone);
  }
}
