import { Injectable, Logger } from '@nestjs/common';
import type { Request } from 'express';
import { AppConfig } from '../../../config/app-config.js';
import { oauthBudgets, type OAuthBudget, type ThrottledRoutes } from './oauth-budgets.js';
import { RollingCounter } from './rolling-counter.js';
import { Trackers } from './trackers.js';

/** Counts a failed attempt against every budget of failures that its route is under. */
@Injectable()
export class FailureCounter {
  private readonly logger = new Logger(FailureCounter.name);
  private readonly budgets: readonly OAuthBudget[];

  constructor(
    private readonly counter: RollingCounter,
    private readonly trackers: Trackers,
    config: AppConfig,
  ) {
    this.budgets = oauthBudgets(config).filter(({ counts }) => counts === 'failures');
  }

  /** Never fails: exception filters call it, and what they throw nobody catches, which would end the service. */
  async count(request: Request, routes: ThrottledRoutes): Promise<void> {
    try {
      for (const budget of this.budgets) {
        if (budget.routes === routes)
          await this.counter.hit(budget, this.trackers.of(request, budget.by));
      }
    } catch (error) {
      this.logger.error(`${request.requestId} uncounted failure: ${(error as Error).message}`);
    }
  }
}
