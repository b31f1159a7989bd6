import { Injectable, Logger } from '@nestjs/common';
import type { Caller } from '../../platform/access/caller.js';
import { AuditLog, type Change } from '../../platform/audit/audit-log.repository.js';
import { Clock, secondsUntil } from '../../platform/clock.js';
import { AppError, InvalidRequest } from '../../platform/errors.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { TransactionRunner, type Transaction } from '../../platform/database/transaction.js';
import { newId } from '../../platform/ids.js';
import { retryAfter } from '../../platform/retry-after.js';
import { EventOutbox } from '../events/event-outbox.service.js';
import type { ApiCall, AppQuota } from './quota.entities.js';
import { nextPeriodStart, type Period, periodOf, postsMonthHeaders } from './quota-period.js';
import { QuotaRepository } from './quota.repository.js';

const DEFAULT_PLAN = 'default';

/** The only calls that count against the quota (product requirements, section 8). */
const PUBLISH = { route: 'POST /dev/v1/posts', status: 201 };

/** The app has no posts left in this month (product requirements, sections 7 and 8). */
export class QuotaExceeded extends AppError {
  constructor(limit: number, now: Date) {
    const resetsAt = nextPeriodStart(now);
    super(
      'quota_exceeded',
      `The app has used its quota of ${limit} ${limit === 1 ? 'post' : 'posts'} per month. It resets at ${resetsAt.toISOString()}; the operator can raise it.`,
      {
        headers: {
          ...retryAfter(secondsUntil(resetsAt, now)),
          ...postsMonthHeaders({ limit, remaining: 0 }, now),
        },
      },
    );
  }
}

/** An app's quota in the current month. A null limit means unlimited. */
export interface CurrentQuota {
  limit: number | null;
  used: number;
  remaining: number | null;
  period: Period;
  resetsAt: Date;
}

/** The name of a plan, or a custom limit, where null means unlimited. */
export type QuotaAssignment = { plan: string } | { limit: number | null };

/** The name of an app's plan, and its limit in posts per month. A null limit means unlimited. */
export interface EffectiveQuota {
  plan: string;
  limit: number | null;
}

export type QuotaStatus = CurrentQuota & EffectiveQuota;

type StoredAssignment = Pick<AppQuota, 'plan' | 'monthlyPostLimit'> | null | undefined;

/** A post that is about to be published at this time. */
interface Publish {
  caller: Caller;
  at: Date;
}

/** Posts of an app per calendar month (product requirements, section 8). */
@Injectable()
export class QuotaService {
  private readonly logger = new Logger(QuotaService.name);

  constructor(
    private readonly repository: QuotaRepository,
    private readonly events: EventOutbox,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly config: AppConfig,
    private readonly clock: Clock,
  ) {}

  /** The configured limit of the assigned plan, or the stored limit if no such plan is configured. The default limit without an assignment. */
  limitOf(assigned: StoredAssignment): number | null {
    const { defaultLimit, plans } = this.config.quota;
    if (!assigned) return defaultLimit;
    const { plan, monthlyPostLimit } = assigned;
    return Object.hasOwn(plans, plan) ? (plans[plan] ?? null) : monthlyPostLimit;
  }

  effectiveQuota(assigned: StoredAssignment): EffectiveQuota {
    return { plan: assigned?.plan ?? DEFAULT_PLAN, limit: this.limitOf(assigned) };
  }

  /**
   * Records publishes and counts them against the quota of their month, all or none. All must have the same app, limit and UTC month.
   * Call it last in a transaction, so that the app's row is locked for one round trip only.
   * @throws QuotaExceeded
   */
  async consume(tx: Transaction, publishes: readonly [Publish, ...Publish[]]): Promise<void> {
    const [{ caller, at }] = publishes;
    const { clientId, postLimit } = caller;
    await this.repository.insertCalls(
      tx,
      publishes.map((publish) => this.callOf(publish)),
    );
    const period = periodOf(at);
    const { length: posts } = publishes;
    // Most publishes reach no threshold of an event, and need no other statement while the row is locked.
    const notified = (await this.events.listens(tx, clientId)) ? postLimit : null;
    if (
      notified !== null &&
      (await this.repository.consumeBelowThreshold(tx, clientId, period, notified, posts))
    )
      return;
    const consume = (): Promise<boolean> =>
      this.repository.consume(tx, clientId, period, postLimit, posts);
    if (!(await consume())) {
      // The counter may have had no row. If the second attempt fails too, the limit is reached.
      if (!(await this.repository.hasPeriod(tx, clientId, period)))
        await this.repository.insertPeriod(tx, clientId, period);
      if (!(await consume())) throw new QuotaExceeded(postLimit ?? 0, at);
    }
    if (notified !== null) await this.events.quotaUsed(tx, clientId, period, notified);
  }

  private callOf({ caller, at }: Publish): ApiCall {
    const { clientId, userId, requestId, receivedAt } = caller;
    const durationMs = this.clock.now().getTime() - receivedAt.getTime();
    const id = newId('call', at);
    return {
      ...PUBLISH,
      at,
      id,
      clientId,
      userId,
      durationMs,
      requestId,
      metered: true,
      errorCode: null,
    };
  }

  async status(clientId: string): Promise<QuotaStatus> {
    const assigned = await this.repository.findAssignment(clientId);
    const { plan, limit } = this.effectiveQuota(assigned);
    return { plan, ...(await this.current(clientId, limit)) };
  }

  async current(clientId: string, limit: number | null): Promise<CurrentQuota> {
    const now = this.clock.now();
    const period = periodOf(now);
    const used = await this.repository.findUsed(clientId, period);
    const remaining = limit === null ? null : Math.max(0, limit - used);
    return { limit, used, remaining, period, resetsAt: nextPeriodStart(now) };
  }

  /**
   * The RateLimit headers after a publish. Returns none for an unlimited app. Also returns none if the quota cannot be read: an
   * error would hide that the post is published.
   */
  async rateLimitHeaders(clientId: string, limit: number | null): Promise<Record<string, string>> {
    if (limit === null) return {};
    try {
      return postsMonthHeaders(await this.current(clientId, limit), this.clock.now());
    } catch (error) {
      this.logger.warn('Cannot read the quota for the RateLimit headers of a publish.', error);
      return {};
    }
  }

  /**
   * Assigns a plan or limit, effective immediately.
   * @returns the status in the current month
   * @throws InvalidRequest if the plan does not exist
   */
  async set(clientId: string, assignment: QuotaAssignment, change: Change): Promise<QuotaStatus> {
    await this.transactions.run((tx) => this.setInTransaction(tx, clientId, assignment, change));
    return this.status(clientId);
  }

  /** @returns the new quota @throws InvalidRequest if the plan does not exist */
  async setInTransaction(
    tx: Transaction,
    clientId: string,
    assignment: QuotaAssignment,
    change: Change,
  ): Promise<EffectiveQuota> {
    const assigned = this.assignedQuota(assignment);
    const quota = this.effectiveQuota(assigned);
    await this.repository.lockAssignment(tx, clientId);
    const before = this.effectiveQuota(await this.repository.findAssignment(clientId, tx));
    if (assigned) await this.repository.saveAssignment(tx, { clientId, ...assigned });
    else await this.repository.removeAssignment(tx, clientId);
    // Posts may have been counted after the job closed their month.
    const now = this.clock.now();
    const closed = { closedPlan: before.plan, closedLimit: before.limit, closedAt: now };
    await this.repository.closeEarlier(tx, clientId, periodOf(now), closed);
    await this.audit.record(tx, 'quota.set', clientId, change, { ...quota, before });
    return quota;
  }

  /** Returns null for the default plan, which has no row. */
  private assignedQuota(assignment: QuotaAssignment): Omit<AppQuota, 'clientId'> | null {
    if ('limit' in assignment) return { plan: 'custom', monthlyPostLimit: assignment.limit };
    const { plan } = assignment;
    if (plan === DEFAULT_PLAN) return null;
    const { plans } = this.config.quota;
    const monthlyPostLimit = Object.hasOwn(plans, plan) ? plans[plan] : undefined;
    if (monthlyPostLimit === undefined) {
      const names = [DEFAULT_PLAN, ...Object.keys(plans)];
      throw new InvalidRequest(`There is no plan "${plan}". The plans are: ${names.join(', ')}.`);
    }
    return { plan, monthlyPostLimit };
  }
}
