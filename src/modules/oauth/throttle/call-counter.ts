import { Injectable, Logger } from '@nestjs/common';
import type { Request } from 'express';
import { AppConfig } from '../../../config/app-config.js';
import type { App } from '../apps/app.entity.js';
import { TooManyAttempts } from '../oauth.errors.js';
import { clientBudgets, type OAuthBudget } from './oauth-budgets.js';
import { RollingCounter, type Standing } from './rolling-counter.js';
import { ThrottleAudit } from './throttle-audit.js';
import { Trackers } from './trackers.js';

const NOT_COUNTED: Standing = { spent: false, hits: 0, retryAfterSeconds: 0 };

/**
 * Counts the calls of apps that proved who they are. One confidential app calls from few addresses for all of its users, so
 * it has one budget wherever it calls from; a public app proves nothing, so its budget is counted by address, too.
 */
@Injectable()
export class CallCounter {
  private readonly logger = new Logger(CallCounter.name);
  private readonly budgets: readonly OAuthBudget[];

  constructor(
    private readonly counter: RollingCounter,
    private readonly trackers: Trackers,
    private readonly audit: ThrottleAudit,
    config: AppConfig,
  ) {
    this.budgets = clientBudgets(config);
  }

  /** Open when it cannot count: apps give up on their tokens when they are refused. @throws TooManyAttempts */
  async take(request: Request, { clientId, kind }: App): Promise<void> {
    const key = kind === 'public' ? this.trackers.of(request, 'app-and-address') : clientId;
    for (const budget of this.budgets) {
      if (budget.routes !== request.throttledRoutes) continue;
      const { spent, retryAfterSeconds } = await this.count(budget, key, clientId);
      if (spent) throw new TooManyAttempts(retryAfterSeconds);
    }
  }

  private async count(budget: OAuthBudget, key: string, clientId: string): Promise<Standing> {
    try {
      const standing = await this.counter.peek(budget, key);
      if (standing.spent) return standing;
      await this.counter.hit(budget, key);
      await this.audit.afterHit(budget, standing.hits + 1, clientId);
      return standing;
    } catch (error) {
      this.logger.error(`${budget.name} could not be counted: ${(error as Error).message}`);
      return NOT_COUNTED;
    }
  }
}
