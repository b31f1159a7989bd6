import { Injectable, Logger } from '@nestjs/common';
import type { Request } from 'express';
import { AppConfig } from '../../../config/app-config.js';
import { requestBudgets, type RequestBudget, type ThrottledRoutes } from './oauth-budgets.js';
import { RollingCounter } from './rolling-counter.js';
import { ThrottleAudit } from './throttle-audit.js';
import { Trackers } from './trackers.js';

/** Counts a failed attempt against every budget of failures that its route is under. */
@Injectable()
export class FailureCounter {
  private readonly logger = new Logger(FailureCounter.name);
  private readonly budgets: readonly RequestBudget[];

  constructor(
    private readonly counter: RollingCounter,
    private readonly trackers: Trackers,
    private readonly audit: ThrottleAudit,
    config: AppConfig,
  ) {
    this.budgets = requestBudgets(config).filter(({ counts }) => counts === 'failures');
  }

  /** Never fails: exception filters call it, and what they throw nobody catches, which would end the service. */
  async count(request: Request, routes: ThrottledRoutes): Promise<void> {
    try {
      for (const budget of this.budgets) {
        if (budget.routes === routes) await this.hit(budget, request);
      }
    } catch (error) {
      this.logger.error(`${request.requestId} uncounted failure: ${(error as Error).message}`);
    }
  }

  private async hit(budget: RequestBudget, request: Request): Promise<void> {
    const key = this.trackers.of(request, budget.by);
    await this.counter.hit(budget, key);
    const { hits } = await this.counter.peek(budget, key);
    await this.audit.afterHit(budget, hits, this.trackers.clientId(request));
  }
}
