import { Injectable } from '@nestjs/common';
import { Clock, later, MINUTE } from '../../../platform/clock.js';
import { beginWaiting } from '../../../platform/deadline.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { timedOut } from '../../../platform/database/mysql/timeouts.js';
import { mayBeCommitted } from '../../../platform/database/transaction.js';

/** So long a client may take to come back after an outage, in milliseconds. */
export const UNHEARD_MS = 10 * MINUTE;
const MOST = 10_000;
/** For each code: who tries again in vain makes no more of them. */
const MOST_ATTEMPTS = 5;

interface Kept {
  sealed: readonly string[];
  until: Date;
}

/**
 * Tokens that may have been committed although the database was lost before it said so. Their client was told to come back, and
 * does so with a code or refresh token that may be used up: it is to have these, since no others can be had. They are known to
 * the process that made them, for ten minutes.
 */
@Injectable()
export class UnheardAnswers {
  /** By the hash of the code or refresh token; those kept first come first. */
  private readonly kept = new Map<string, Kept>();
  /** Attempts of which nobody knows yet how they end, by the same hashes. */
  private readonly attempts = new Map<string, Promise<unknown>>();
  private sweep: NodeJS.Timeout | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Notes an attempt. What it may have committed unheard is kept before it ends.
   * @param seal makes its tokens, sealed for who has the code; none where they are stored so
   * @returns what the attempt does
   */
  attempt<T>(hash: string, attempt: Promise<T>, seal?: () => string): Promise<T> {
    const watched = attempt.catch((error: unknown) => {
      if (mayBeCommitted(error)) this.keep(hash, seal ? [seal()] : []);
      throw error;
    });
    const ended = Promise.allSettled([this.attempts.get(hash), watched]).then(() => {
      if (this.attempts.get(hash) === ended) this.attempts.delete(hash);
    });
    this.attempts.set(hash, ended);
    return watched;
  }

  /**
   * Waits for the attempts that have begun, as long as one may for the database: what looks used may be what one of them will not
   * hear of.
   * @throws when none has told by then; the client is to come back
   */
  async untilEnded(hash: string): Promise<void> {
    const attempts = this.attempts.get(hash);
    if (!attempts) return;
    const end = beginWaiting();
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(timedOut('An earlier request with the same code or token has not ended in time.'));
      }, this.config.database.timeoutMs);
      void attempts.then(() => {
        clearTimeout(timer);
        resolve();
      });
    }).finally(end);
  }

  /** What was kept, of each attempt, of which one at most was committed; undefined when there was none. */
  find(hash: string): readonly string[] | undefined {
    const kept = this.kept.get(hash);
    return kept && kept.until > this.clock.now() ? kept.sealed : undefined;
  }

  /** It was answered: from now on it may be asked for again for so many milliseconds only, since that answer may get lost, too. */
  give(hash: string, againMs: number): void {
    const kept = this.kept.get(hash);
    const soon = later(this.clock.now(), againMs);
    if (kept && soon < kept.until) kept.until = soon;
  }

  private keep(hash: string, sealed: readonly string[]): void {
    const before = this.find(hash) ?? [];
    this.kept.delete(hash);
    this.kept.set(hash, {
      sealed: [...before, ...sealed].slice(-MOST_ATTEMPTS),
      until: later(this.clock.now(), UNHEARD_MS),
    });
    const [first] = this.kept.keys();
    if (this.kept.size > MOST && first !== undefined) this.kept.delete(first);
    this.sweepLater();
  }

  /** Nothing stays for long after it has ended. */
  private sweepLater(): void {
    this.sweep ??= setTimeout(() => {
      this.sweep = undefined;
      const now = this.clock.now();
      for (const [hash, { until }] of this.kept) if (until <= now) this.kept.delete(hash);
      if (this.kept.size > 0) this.sweepLater();
    }, MINUTE).unref();
  }
}
