import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { Clock, DAY, HOUR, SECOND } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import type { ExpiredRows } from '../../../platform/database/retention/expired-rows.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import {
  RollingCounter,
  type Budget,
  type Hit,
  type Standing,
} from '../rate-limit/sliding-window-counter.js';
import { ThrottleMetrics } from '../rate-limit/rate-limit-metrics.js';
import type { Visitor } from '../rate-limit/trackers.js';
import { KnownBrowsersRepository } from './sessions.repository.js';

/** What was taken from budgets, and when: to give it back. */
export interface Taken {
  hits: readonly Hit[];
  at: Date;
}

/** What became of taking from budgets: nothing is taken when one of them is spent. */
export type Take = Taken | { retryAfterSeconds: number };

const EVERYBODY = '';
const OWN_SENDS = 1;
const OWN_GUESSES = 5;
const ALARM: Hit = {
  budget: { name: 'otp-daily-total-alarm', limit: 1, windowMs: HOUR },
  key: EVERYBODY,
};

/**
 * The budgets of one-time passwords. Those of a phone are shared by all who type its number, so a stranger can use them up.
 * A browser in which somebody signed in with the phone before then has a little of its own, so that nobody is shut out.
 */
@Injectable()
export class OtpBudgets {
  private readonly sends: readonly Budget[];
  private readonly sendsFromAddress: Budget;
  private readonly ownSends: Budget;
  private readonly guesses: Budget;
  private readonly ownGuesses: Budget;
  /** Messages to all phones together. */
  private readonly total: Hit;

  constructor(
    private readonly counter: RollingCounter,
    private readonly metrics: ThrottleMetrics,
    private readonly browsers: KnownBrowsersRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    { otp, budgets }: AppConfig,
  ) {
    const windowMs = budgets.windowSeconds * SECOND;
    const pause = { name: 'otp-pause', limit: 1, windowMs: otp.resendSeconds * SECOND };
    this.sends = [
      ...(otp.resendSeconds > 0 ? [pause] : []),
      { name: 'otp-hourly', limit: otp.phoneHourly, windowMs: HOUR },
      { name: 'otp-daily', limit: otp.phoneDaily, windowMs: DAY },
    ];
    this.sendsFromAddress = { name: 'otp-address', limit: otp.addressHourly, windowMs: HOUR };
    this.ownSends = { name: 'otp-own-sends', limit: OWN_SENDS, windowMs };
    this.guesses = { name: 'otp-guesses', limit: otp.phoneFailures, windowMs };
    this.ownGuesses = { name: 'otp-own-guesses', limit: OWN_GUESSES, windowMs };
    this.total = {
      budget: { name: 'otp-daily-total', limit: otp.dailyTotal, windowMs: DAY },
      key: EVERYBODY,
    };
  }

  /**
   * Takes a message to this phone, in the unit that makes its password.
   * @param hasPassword whether the visitor was sent a password that still works: a second click spends nothing of their own
   */
  async takeSend(
    tx: Transaction,
    phone: string,
    { address, browserHash }: Visitor,
    hasPassword: () => Promise<boolean>,
  ): Promise<Take> {
    const fromAddress = { budget: this.sendsFromAddress, key: address };
    const shared = await this.take(tx, [
      ...this.sends.map((budget) => ({ budget, key: phone })),
      fromAddress,
    ]);
    if ('hits' in shared || (await hasPassword())) return shared;
    if (!(await this.browsers.isKnown(browserHash, phone, tx))) return shared;
    const own = await this.take(tx, [
      { budget: this.ownSends, key: ownKey(browserHash, phone) },
      fromAddress,
    ]);
    return 'hits' in own ? own : sooner(shared, own);
  }

  /** How the guesses that this browser has at passwords of this phone stand, without taking one. */
  async peekGuess(phone: string, browserHash: string): Promise<Standing> {
    const shared = await this.peek({ budget: this.guesses, key: phone });
    if (!shared.spent || !(await this.browsers.isKnown(browserHash, phone))) return shared;
    const own = await this.counter.peek(this.ownGuesses, ownKey(browserHash, phone));
    return own.spent ? sooner(shared, own) : own;
  }

  /** Takes a guess at a password of this phone, in the unit that compares it. */
  async takeGuess(tx: Transaction, phone: string, browserHash: string): Promise<Take> {
    const shared = await this.take(tx, [{ budget: this.guesses, key: phone }]);
    if ('hits' in shared || !(await this.browsers.isKnown(browserHash, phone, tx))) return shared;
    const own = await this.take(tx, [{ budget: this.ownGuesses, key: ownKey(browserHash, phone) }]);
    return 'hits' in own ? own : sooner(shared, own);
  }

  /** How the messages of the day stand, without taking one. */
  peekTotal(): Promise<Standing> {
    return this.peek(this.total);
  }

  /** Takes one of the messages of the day. */
  takeTotal(): Promise<Take> {
    return this.transactions.run((tx) => this.take(tx, [this.total]));
  }

  /** Whether the messages of the day are used up and nobody was told within the last hour: true for one process only. */
  async totalWasReached(): Promise<boolean> {
    const { spent } = await this.counter.peek(this.total.budget, this.total.key);
    return spent && 'hits' in (await this.transactions.run((tx) => this.take(tx, [ALARM])));
  }

  /** Everything that is counted for this phone, also in the browsers that it signed in with. */
  hitsOf(phone: string): ExpiredRows {
    return this.counter.hitsOf(async () => {
      const browsers = await this.browsers.findAll(phone);
      return [
        ...[...this.sends, this.guesses].map((budget) => ({ budget, key: phone })),
        ...browsers.flatMap((hash) =>
          [this.ownSends, this.ownGuesses].map((budget) => ({ budget, key: ownKey(hash, phone) })),
        ),
      ];
    });
  }

  async giveBack(tx: Transaction, { hits, at }: Taken): Promise<void> {
    await this.counter.refund(tx, hits, at);
  }

  private async peek({ budget, key }: Hit): Promise<Standing> {
    const standing = await this.counter.peek(budget, key);
    if (standing.spent) this.metrics.throttle(budget);
    return standing;
  }

  private async take(tx: Transaction, hits: readonly Hit[]): Promise<Take> {
    const at = this.clock.now();
    const spent = await this.counter.takeAll(tx, hits, at, ({ name, limit }) =>
      limit === 1 ? Promise.resolve() : this.record(tx, name),
    );
    if (spent && spent.budget !== ALARM.budget) this.metrics.throttle(spent.budget);
    return spent ? { retryAfterSeconds: spent.retryAfterSeconds } : { hits, at };
  }

  /** A budget of one is a pause: everybody spends it. */
  private record(tx: Transaction, name: string): Promise<void> {
    return this.audit.record(tx, 'oauth.throttled', name, {
      actor: 'service',
      reason: 'too many attempts',
    });
  }
}

function ownKey(browserHash: string, phone: string): string {
  return `${browserHash}|${phone}`;
}

function sooner<T extends { retryAfterSeconds: number }>(left: T, right: T): T {
  return left.retryAfterSeconds <= right.retryAfterSeconds ? left : right;
}
