import { Injectable, Logger } from '@nestjs/common';
import { AuditLog, type Change } from '../../platform/audit/audit-log.repository.js';
import { Clock } from '../../platform/clock.js';
import { InvalidRequest } from '../../platform/errors.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { TransactionRunner, type Transaction } from '../../platform/database/transaction.js';
import type { AppQuota } from './quota.entities.js';
import { nextPeriodStart, type Period, periodOf, postsMonthHeaders } from './quota-period.js';
import { QuotaExceeded } from './quota.errors.js';
import { QuotaRepository } from './quota.repository.js';

const DEFAULT_PLAN = 'default';

/** An app's quota in the current month; null means unlimited. */
export interface QuotaStanding {
  limit: number | null;
  used: number;
  remaining: number | null;
  period: Period;
  resetsAt: Date;
}

/** The same with the arrangement that it comes from. */
export interface QuotaStatus extends QuotaStanding {
  plan: string;
}

/** What an operator may arrange for an app: a plan by its name, or a limit of the app's own, where null is unlimited. */
export type Arrangement = { plan: string } | { limit: number | null };

/** What an app may publish in a month, and the name of the plan that says so; null is unlimited. */
export interface Terms {
  plan: string;
  limit: number | null;
}

/** How many posts an app may publish in a calendar month (source document, section 8). */
@Injectable()
export class QuotaService {
  private readonly logger = new Logger(QuotaService.name);

  constructor(
    private readonly repository: QuotaRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly config: AppConfig,
    private readonly clock: Clock,
  ) {}

  /**
   * The limit that an arrangement gives, or the default where there is none; null is unlimited. A plan's number is the
   * configured one; the number that was stored with it counts once the plan is gone.
   */
  limitOf(arrangement: Pick<AppQuota, 'plan' | 'monthlyPostLimit'> | null): number | null {
    const { defaultLimit, plans } = this.config.quota;
    if (!arrangement) return defaultLimit;
    const { plan, monthlyPostLimit } = arrangement;
    return Object.hasOwn(plans, plan) ? (plans[plan] ?? null) : monthlyPostLimit;
  }

  /** The same with the name of the plan. */
  termsOf(arrangement: Pick<AppQuota, 'plan' | 'monthlyPostLimit'> | null): Terms {
    return { plan: arrangement?.plan ?? DEFAULT_PLAN, limit: this.limitOf(arrangement) };
  }

  /**
   * Spends so many posts of the month that `now` is in, or none of them. The last statement of the publish's transaction, so
   * that the app's row is locked for one round trip only.
   * @throws QuotaExceeded when fewer are left
   */
  async spend(
    tx: Transaction,
    clientId: string,
    limit: number | null,
    now: Date,
    posts: number,
  ): Promise<void> {
    const period = periodOf(now);
    const spend = (): Promise<boolean> => this.repository.spend(tx, clientId, period, limit, posts);
    if (await spend()) return;
    if (!(await this.repository.isOpen(tx, clientId, period)))
      await this.repository.open(tx, [clientId], period);
    if (await spend()) return;
    throw new QuotaExceeded(limit ?? 0, now);
  }

  async status(clientId: string): Promise<QuotaStatus> {
    const { plan, limit } = this.termsOf(await this.repository.findArrangement(clientId));
    return { plan, ...(await this.standing(clientId, limit)) };
  }

  /** Where the app stands in the current month, under a limit that is known. */
  async standing(clientId: string, limit: number | null): Promise<QuotaStanding> {
    const now = this.clock.now();
    const period = periodOf(now);
    const used = await this.repository.findUsed(clientId, period);
    const remaining = limit === null ? null : Math.max(0, limit - used);
    return { limit, used, remaining, period, resetsAt: nextPeriodStart(now) };
  }

  /**
   * The RateLimit headers for an app after a publish; none where it may publish without limit. None either when they cannot
   * be told: the post is published, and an error would say that it is not.
   */
  async rateLimit(clientId: string, limit: number | null): Promise<Record<string, string>> {
    if (limit === null) return {};
    try {
      return postsMonthHeaders(await this.standing(clientId, limit), this.clock.now());
    } catch (error) {
      this.logger.warn('The RateLimit headers of a publish could not be told.', error);
      return {};
    }
  }

  /**
   * Arranges the app's quota, at once and for every month to come.
   * @returns what that comes to in the current month
   * @throws InvalidRequest when no plan has this name
   */
  async set(clientId: string, arrangement: Arrangement, change: Change): Promise<QuotaStatus> {
    await this.transactions.run((tx) => this.arrange(tx, clientId, arrangement, change));
    return this.status(clientId);
  }

  /** The same inside the caller's transaction. @throws InvalidRequest when no plan has this name */
  async arrange(
    tx: Transaction,
    clientId: string,
    arrangement: Arrangement,
    change: Change,
  ): Promise<void> {
    const quota = this.quotaUnder(arrangement);
    const terms = this.termsOf(quota);
    await this.repository.lockArrangement(tx, clientId);
    const before = this.termsOf(await this.repository.findArrangement(clientId, tx));
    if (quota) await this.repository.saveArrangement(tx, { clientId, ...quota });
    else await this.repository.removeArrangement(tx, clientId);
    await this.audit.record(tx, 'quota.set', clientId, change, { ...terms, before });
  }

  private quotaUnder(arrangement: Arrangement): Omit<AppQuota, 'clientId'> | null {
    if ('limit' in arrangement) return { plan: 'custom', monthlyPostLimit: arrangement.limit };
    const { plan } = arrangement;
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
