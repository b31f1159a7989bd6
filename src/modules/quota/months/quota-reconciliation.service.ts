import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock, HOUR, addMilliseconds, floorTo } from '../../../platform/clock.js';
import { InvalidRequest } from '../../../platform/errors.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import type { TimeRange } from '../../../platform/database/rows-in-pages.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import { callLogStart } from '../calls/usage-rollup.service.js';
import { periodOf, rangeOf, type Period } from '../quota-period.js';
import { QuotaRepository } from '../quota.repository.js';

/** A difference between an app's counter of a month and the call log. */
export interface QuotaDiscrepancy {
  clientId: string;
  period: Period;
  /** The value of the counter. */
  used: number;
  /** The number of posts in the call log. */
  recorded: number;
  /** The number of posts recorded before `until`. Running publishes cannot change it. */
  settled: { until: Date; posts: number };
}

/** A publish that started longer ago than this has committed or failed. The call log records the start time. */
const SETTLED_MS = HOUR;

/** Compares the quota counters with the call log (product requirements, section 8). */
@Injectable()
export class QuotaReconciliation {
  constructor(
    private readonly repository: QuotaRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly config: AppConfig,
    private readonly clock: Clock,
  ) {}

  /**
   * Finds the apps whose counter is wrong, sorted by client id. Safe while apps publish.
   * @param period the current month by default
   * @param onHour called before the calls of an hour are counted, with its start
   * @throws InvalidRequest if calls of the month were already deleted, or the month has not begun
   */
  async discrepancies(
    period: Period = periodOf(this.clock.now()),
    onHour?: (start: Date) => void,
  ): Promise<QuotaDiscrepancy[]> {
    const { from, to } = this.loggedRange(period);
    const until = this.settledUntil({ from, to });
    const settled = await this.count({ from, to: until }, onHour);
    const recent = await this.count({ from: until, to }, onHour);
    const usage = await this.repository.findUsage(period);
    const discrepancies: QuotaDiscrepancy[] = [];
    for (const clientId of new Set([...usage.keys(), ...settled.keys(), ...recent.keys()])) {
      const posts = settled.get(clientId) ?? 0;
      if ((usage.get(clientId)?.used ?? 0) === posts + (recent.get(clientId) ?? 0)) continue;
      const candidate = { clientId, period, settled: { until, posts } };
      const counts = await this.transactions.run((tx) => this.compare(tx, candidate));
      if (counts.used !== counts.recorded) discrepancies.push({ ...candidate, ...counts });
    }
    return discrepancies.toSorted((a, b) => (a.clientId < b.clientId ? -1 : 1));
  }

  /** Sets the counter to the number of posts in the call log, if it is still wrong. */
  async fix(discrepancy: QuotaDiscrepancy, change: Change): Promise<void> {
    const { clientId, period } = discrepancy;
    await this.transactions.run(async (tx) => {
      if ((await this.repository.lockUsed(tx, clientId, period)) === null)
        await this.repository.insertPeriod(tx, clientId, period);
      const { used, recorded } = await this.compare(tx, discrepancy);
      if (used === recorded) return;
      await this.repository.setUsed(tx, clientId, period, recorded);
      const details = { period, from: used, to: recorded };
      await this.audit.record(tx, 'quota.reconciled', clientId, change, details);
    });
  }

  /**
   * Locks and reads the counter of an app, and counts the posts in the call log. Only the posts that are not settled are
   * counted again.
   */
  private async compare(
    tx: Transaction,
    { clientId, period, settled }: Pick<QuotaDiscrepancy, 'clientId' | 'period' | 'settled'>,
  ): Promise<{ used: number; recorded: number }> {
    const { to } = rangeOf(period);
    const countRecent = (): Promise<number> =>
      this.repository.countPublishesOf(tx, clientId, { from: settled.until, to });
    let used = await this.repository.lockUsed(tx, clientId, period);
    let recent = await countRecent();
    if (used === null) {
      // The app's first publish of the month may have committed between the two statements.
      used = await this.repository.lockUsed(tx, clientId, period);
      if (used !== null) recent = await countRecent();
    }
    return { used: used ?? 0, recorded: settled.posts + recent };
  }

  /** The number of posts in the call log, by client id. */
  private async count(
    span: TimeRange,
    onHour?: (start: Date) => void,
  ): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for await (const hour of this.repository.partsWithCalls(span, HOUR)) {
      onHour?.(hour.from);
      for (const [clientId, calls] of await this.repository.countPublishes(hour))
        counts.set(clientId, (counts.get(clientId) ?? 0) + calls);
    }
    return counts;
  }

  private settledUntil({ from, to }: TimeRange): Date {
    const settled = floorTo(addMilliseconds(this.clock.now(), -SETTLED_MS), HOUR);
    if (settled < from) return from;
    return settled > to ? to : settled;
  }

  private loggedRange(period: Period): TimeRange {
    const span = rangeOf(period);
    const now = this.clock.now();
    if (span.from > now) throw new InvalidRequest(`The month ${period} has not begun.`);
    if (span.from < callLogStart(now, this.config)) {
      const { callLog } = this.config.retention;
      throw new InvalidRequest(
        `The call log of ${period} is incomplete because CALL_LOG_DAYS is ${callLog}. Choose a later month.`,
      );
    }
    return span;
  }
}
