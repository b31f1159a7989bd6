import { Injectable, Logger } from '@nestjs/common';
import type { Request } from 'express';
import { AppConfig } from '../../../config/app-config.js';
import { BudgetKeeper } from './budget-keeper.js';
import { requestBudgets, type RequestBudget, type ThrottledRoutes } from './oauth-budgets.js';
import { Trackers } from './trackers.js';

/** Counts a failed attempt against every budget of failures that its route is under. */
@Injectable()
export class FailureCounter {
  private readonly logger = new Logger(FailureCounter.name);
  private readonly budgets: readonly RequestBudget[];

  constructor(
    private readonly keeper: BudgetKeeper,
    private readonly trackers: Trackers,
    config: AppConfig,
  ) {
    this.budgets = requestBudgets(config).filter(({ counts }) => counts === 'failures');
  }

  /** Never fails: exception filters call it, and what they throw nobody catches, which would end the service. */
  async count(request: Request, routes: ThrottledRoutes): Promise<void> {
    try {
      const claimedClientId = this.trackers.clientId(request);
      for (const budget of this.budgets) {
        if (budget.routes !== routes) continue;
        await this.keeper.fail(budget, this.trackers.of(request, budget.by), { claimedClientId });
      }
    } catch (error) {
      this.logger.error(`A failure could not be counted: ${(error as Error).message}`);
    }
  }
}
