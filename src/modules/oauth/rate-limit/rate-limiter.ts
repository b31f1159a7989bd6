import { Injectable, Logger } from '@nestjs/common';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { CLIENT_ROUTES, type OAuthBudget } from './rate-limits.js';
import { RollingCounter, type Standing, type WhenSpent } from './sliding-window-counter.js';
import { ThrottleMetrics } from './rate-limit-metrics.js';

/** Whom a budget was spent by: an app, which is only claimed where nothing of it was proven. */
export type SpentBy = { clientId: string } | { claimedClientId?: string };

const NOT_COUNTED: Standing = { spent: false, hits: 0, retryAfterSeconds: 0 };
const FOR_APPS: ReadonlySet<string> = new Set(CLIENT_ROUTES);

/** Asks and fills the budgets of the OAuth routes. The hit that spends one writes that down; the calls refused after do not. */
@Injectable()
export class BudgetKeeper {
  private readonly logger = new Logger(BudgetKeeper.name);

  constructor(
    private readonly counter: RollingCounter,
    private readonly metrics: ThrottleMetrics,
    private readonly audit: AuditLog,
  ) {}

  /** How a budget stands, before a request goes on. */
  peek(budget: OAuthBudget, key: string): Promise<Standing> {
    return this.asked(budget, () => this.counter.peek(budget, key));
  }

  /** The same of a budget of calls that was peeked at, of which it takes one, unless it was spent since. */
  take(budget: OAuthBudget, key: string, by: SpentBy = {}): Promise<Standing> {
    return this.asked(budget, () => this.counter.take(budget, key, this.recording(budget, by)));
  }

  /**
   * When a budget cannot be counted, pages stay closed, but the endpoints for apps open: apps give up on their tokens when they
   * are refused.
   */
  private async asked(budget: OAuthBudget, ask: () => Promise<Standing>): Promise<Standing> {
    try {
      const standing = await ask();
      if (standing.spent) this.metrics.throttle(budget);
      return standing;
    } catch (error) {
      if (!FOR_APPS.has(budget.routes)) throw error;
      this.logger.error(`${budget.name} could not be counted: ${(error as Error).message}`);
      return NOT_COUNTED;
    }
  }

  /** Counts a failed attempt. */
  fail(budget: OAuthBudget, key: string, by: SpentBy): Promise<void> {
    return this.counter.hit(budget, key, this.recording(budget, by));
  }

  private recording({ name }: OAuthBudget, by: SpentBy): WhenSpent {
    const change = { actor: 'service', reason: 'too many attempts' };
    return (tx) => this.audit.record(tx, 'oauth.throttled', name, change, { ...by });
  }
}
