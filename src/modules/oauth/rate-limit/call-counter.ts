import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { AppConfig } from '../../../platform/config/app-config.js';
import { TooManyAttempts } from '../protocol/oauth.errors.js';
import { BudgetKeeper } from './rate-limiter.js';
import { clientBudgets, type OAuthBudget } from './rate-limits.js';
import type { Standing } from './sliding-window-counter.js';
import { Trackers } from './trackers.js';

/** An app that made a call. */
interface Caller {
  clientId: string;
  kind: 'public' | 'confidential';
}

/**
 * Counts the calls of apps that proved who they are. One confidential app calls from few addresses for all of its users, so
 * it has one budget wherever it calls from; a public app proves nothing, so its budget is counted by address, too.
 */
@Injectable()
export class CallCounter {
  private readonly budgets: readonly OAuthBudget[];

  constructor(
    private readonly keeper: BudgetKeeper,
    private readonly trackers: Trackers,
    config: AppConfig,
  ) {
    this.budgets = clientBudgets(config);
  }

  /** @throws TooManyAttempts */
  async take(request: Request, { clientId, kind }: Caller): Promise<void> {
    const isProven = kind === 'confidential';
    const key = isProven ? clientId : this.trackers.of(request, 'app-and-address');
    const by = isProven ? { clientId } : { claimedClientId: clientId };
    for (const budget of this.budgets) {
      if (budget.routes !== request.throttledRoutes) continue;
      refuseSpent(await this.keeper.peek(budget, key));
      refuseSpent(await this.keeper.take(budget, key, by));
    }
  }
}

function refuseSpent({ spent, retryAfterSeconds }: Standing): void {
  if (spent) throw new TooManyAttempts(retryAfterSeconds);
}
