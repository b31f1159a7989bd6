import { Injectable, Logger } from '@nestjs/common';
import type { Request } from 'express';
import { limited } from '../../../platform/deadline.js';
import { BudgetKeeper } from './rate-limiter.js';
import { RouteBudgets, type ThrottledRoutes } from './rate-limits.js';
import { Trackers } from './trackers.js';

/** Counts a failed attempt against every budget of failures that its route is under. */
@Injectable()
export class FailureCounter {
  private readonly logger = new Logger(FailureCounter.name);

  constructor(
    private readonly budgets: RouteBudgets,
    private readonly keeper: BudgetKeeper,
    private readonly trackers: Trackers,
  ) {}

  /** Never fails: exception filters call it, and what they throw nobody catches, which would end the service. */
  async count(request: Request, routes: ThrottledRoutes): Promise<void> {
    // However long the attempt itself has waited.
    await limited(() => this.countAll(request, routes));
  }

  private async countAll(request: Request, routes: ThrottledRoutes): Promise<void> {
    try {
      const claimedClientId = this.trackers.clientId(request);
      for (const budget of this.budgets.of(routes)) {
        if (budget.counts !== 'failures') continue;
        await this.keeper.fail(budget, this.trackers.of(request, budget.by), { claimedClientId });
      }
    } catch (error) {
      this.logger.error(`A failure could not be counted: ${(error as Error).message}`);
    }
  }
}
