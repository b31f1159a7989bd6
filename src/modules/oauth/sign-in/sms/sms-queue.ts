import { setImmediate as turn } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, later, SECOND } from '../../../../platform/clock.js';
import { GatewayError } from './gateway-sms-senders.js';
import { SmsSender, type TextMessage } from './sms-sender.js';

/** Waits between the tries of one message. */
const PAUSES_MS = [2 * SECOND, 10 * SECOND, 30 * SECOND];

/** What is to be sent. */
export interface Errand {
  /** Null where a message would go if anybody had the phone. */
  message: TextMessage | null;
  /** When it is of no use any more: there is no try after that. */
  expiresAt: Date;
  /** Asked before the first try of a message, and again before the next where it failed: false drops it. */
  admit: () => Promise<boolean>;
  /** Called once no try succeeded or, for an errand without a message, would have. */
  failed: () => Promise<void>;
}

/** What became of a message: an error when the last try had one. */
type Outcome = 'sent' | 'dropped' | Error;

/**
 * Sends messages beside the request, so that its time does not tell whether there was one to send, and tries again while the
 * message is of use. All tries of a message carry its id.
 *
 * What follows a failure can be seen from outside: the user may ask again sooner. So while messages fail, that is after the last
 * one of this process failed for good, by the gateway or the database, an errand without a message fails like one with a message,
 * as long after its start. Otherwise an outage would tell for each phone whether somebody has it.
 */
@Injectable()
export class SmsQueue implements OnApplicationShutdown {
  private readonly logger = new Logger(SmsQueue.name);
  private readonly running = new Set<Promise<void>>();
  /** Ends each pause that is going on. */
  private readonly wakers = new Set<() => void>();
  private ending = false;
  /** How long the last message took to fail for good, in milliseconds; undefined when it was sent. */
  private outageMs: number | undefined;

  constructor(
    private readonly sender: SmsSender,
    private readonly clock: Clock,
  ) {}

  add(errand: Errand): void {
    const done = this.run(errand)
      .catch((error: Error) => this.logger.error(`A message was lost: ${error.message}`))
      .finally(() => this.running.delete(done));
    this.running.add(done);
  }

  /** Once all that was added is sent or given up. */
  async idle(): Promise<void> {
    await Promise.all(this.running);
  }

  /** After the last open request, which may have added a message. What waits for its next try has it now, as its last. */
  async onApplicationShutdown(): Promise<void> {
    this.ending = true;
    for (const wake of this.wakers) wake();
    await this.idle();
  }

  private async run(errand: Errand): Promise<void> {
    await turn();
    const { message } = errand;
    if (message === null) return this.runEmpty(errand);
    const startedAt = this.clock.now();
    const outcome = await this.send(message, errand);
    if (outcome === 'dropped') return;
    this.outageMs = outcome === 'sent' ? undefined : this.since(startedAt);
    if (outcome === 'sent') return;
    this.logger.error(`A one-time password could not be sent: ${outcome.message}`);
    await errand.failed();
  }

  private async runEmpty({ expiresAt, failed }: Errand): Promise<void> {
    const startedAt = this.clock.now();
    for (const pauseMs of PAUSES_MS) if (!(await this.pause(pauseMs, expiresAt))) break;
    if (this.outageMs === undefined) return;
    await this.pause(Math.max(0, this.outageMs - this.since(startedAt)), expiresAt);
    await failed();
  }

  /**
   * Answers why the last try failed, if all did. A message that must not be tried again fails no sooner than others, since that
   * could be told apart from a phone that nobody has.
   */
  private async send(message: TextMessage, { admit, expiresAt }: Errand): Promise<Outcome> {
    let isAdmitted: boolean | undefined;
    const attempt = async (): Promise<Outcome> => {
      try {
        isAdmitted ??= await admit();
        if (!isAdmitted) return 'dropped';
        await this.sender.send(message);
        return 'sent';
      } catch (error) {
        return error as Error;
      }
    };
    let outcome = await attempt();
    for (const pauseMs of PAUSES_MS) {
      if (typeof outcome === 'string' || !(await this.pause(pauseMs, expiresAt))) return outcome;
      if (mayRepeat(outcome)) outcome = await attempt();
    }
    return outcome;
  }

  /** False at once when the time after it would be too late, or the service is ending already; its end ends the pause. */
  private async pause(milliseconds: number, expiresAt: Date): Promise<boolean> {
    if (this.ending || later(this.clock.now(), milliseconds) >= expiresAt) return false;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => wake(), milliseconds).unref();
      const wake = (): void => {
        clearTimeout(timer);
        this.wakers.delete(wake);
        resolve();
      };
      this.wakers.add(wake);
    });
    return true;
  }

  private since(time: Date): number {
    return this.clock.now().getTime() - time.getTime();
  }
}

function mayRepeat(fault: Error): boolean {
  return !(fault instanceof GatewayError) || fault.mayRepeat;
}
