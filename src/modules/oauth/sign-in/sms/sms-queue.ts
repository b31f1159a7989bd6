import { randomInt } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, addMilliseconds, SECOND } from '../../../../platform/clock.js';
import { parseRetryAfter } from '../../../../platform/http/http-client.js';
import { GatewayError, SmsSender, type TextMessage } from './sms-senders.js';

/** At least; later if the gateway demands it by `Retry-After`. */
const RETRY_DELAYS_MS = [2 * SECOND, 10 * SECOND, 30 * SECOND];
/** Maximum number of event-loop turns before a job starts. */
const MAX_START_TURNS = 10;

export interface SmsJob {
  message: TextMessage;
  /** No retry is made at or after this time. */
  expiresAt: Date;
  /** The first step of each attempt. False drops the message. If it throws, the attempt fails. */
  shouldSend: () => Promise<boolean>;
  /** Called after the gateway accepted the message. Must not throw. */
  onSent: () => void;
  /** Called after the last attempt failed, with its error, to record the failure. */
  onFailure: (error: Error) => Promise<void>;
}

/**
 * Sends messages in the background and retries failed attempts. A job starts after a random number of turns of the event loop, so
 * that response times do not reveal whether there was a message to send.
 */
@Injectable()
export class SmsQueue implements OnApplicationShutdown {
  private readonly logger = new Logger(SmsQueue.name);
  private readonly running = new Set<Promise<void>>();
  /** Functions that end the current waits. */
  private readonly wakers = new Set<() => void>();
  private isShuttingDown = false;

  constructor(
    private readonly sender: SmsSender,
    private readonly clock: Clock,
  ) {}

  add(job: SmsJob): void {
    const done = this.run(job)
      .catch((error: Error) =>
        this.logger.error(`A failed text message could not be recorded: ${error.message}`),
      )
      .finally(() => this.running.delete(done));
    this.running.add(done);
  }

  /** Resolves when all messages were sent, dropped or failed. */
  async idle(): Promise<void> {
    await Promise.all(this.running);
  }

  /** Runs after the last request. Messages that wait for a retry get their last attempt now, unless the gateway asked to wait. */
  async onApplicationShutdown(): Promise<void> {
    this.isShuttingDown = true;
    for (const wake of this.wakers) wake();
    await this.idle();
  }

  private async run(job: SmsJob): Promise<void> {
    for (let turns = randomInt(1, MAX_START_TURNS + 1); turns > 0; turns -= 1) await nextTurn();
    const error = await this.send(job);
    if (!error) return;
    this.logger.error(`A one-time password could not be sent: ${error.message}`);
    await job.onFailure(error);
  }

  /** Returns the error of the last attempt, or undefined if the message was sent or dropped. */
  private async send({
    message,
    shouldSend,
    onSent,
    expiresAt,
  }: SmsJob): Promise<Error | undefined> {
    for (let retry = 0; ; retry += 1) {
      try {
        if (!(await shouldSend())) return undefined;
        await this.sender.send(message, expiresAt);
        onSent();
        return undefined;
      } catch (error) {
        if (!(await this.waitForRetry(retry, error, expiresAt))) return error as Error;
      }
    }
  }

  /**
   * Returns true when it is time to retry. Returns false at once if there must be no further attempt, the message would have expired by
   * then, or the service is already shutting down. A shutdown ends the wait early, for one last attempt unless the gateway asked for a
   * longer pause.
   */
  private async waitForRetry(retry: number, error: unknown, expiresAt: Date): Promise<boolean> {
    const delayMs = RETRY_DELAYS_MS[retry];
    const { fault, mayRetry } = error instanceof GatewayError ? error : { mayRetry: true };
    if (delayMs === undefined || !mayRetry || this.isShuttingDown) return false;
    const now = this.clock.now();
    const retryAfter = fault?.kind === 'status' ? fault.retryAfter : null;
    const retryAfterMs = parseRetryAfter(retryAfter, new Date(this.clock.machineTime()));
    const waitMs = Math.max(delayMs, retryAfterMs);
    if (addMilliseconds(now, waitMs) >= expiresAt) return false;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => wake(), waitMs).unref();
      const wake = (): void => {
        clearTimeout(timer);
        this.wakers.delete(wake);
        resolve();
      };
      this.wakers.add(wake);
    });
    return !this.isShuttingDown || this.clock.now() >= addMilliseconds(now, retryAfterMs);
  }
}
