import { Injectable, Logger } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { SECOND } from '../../../common/clock.js';
import { AppConfig } from '../../../config/app-config.js';
import { requestBudgets, type RequestBudget } from './oauth-budgets.js';
import { ThrottleAudit } from './throttle-audit.js';
import { RollingCounter, type Standing } from './rolling-counter.js';

type StorageRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** The throttler's storage in our database. Budgets of failures are only looked at here: `FailureCounter` fills them. */
@Injectable()
export class OAuthThrottlerStorage implements ThrottlerStorage {
  private readonly logger = new Logger(OAuthThrottlerStorage.name);
  private readonly budgets: ReadonlyMap<string, RequestBudget>;

  constructor(
    private readonly counter: RollingCounter,
    private readonly audit: ThrottleAudit,
    config: AppConfig,
  ) {
    this.budgets = new Map(requestBudgets(config).map((budget) => [budget.name, budget]));
  }

  async increment(
    key: string,
    ttl: number,
    _limit: number,
    _block: number,
    name: string,
  ): Promise<StorageRecord> {
    const budget = this.budgets.get(name);
    if (!budget) throw new Error(`There is no budget ${name}.`);
    const { spent, hits, retryAfterSeconds } = await this.look(budget, key);
    return {
      totalHits: hits + 1,
      timeToExpire: ttl / SECOND,
      isBlocked: spent,
      timeToBlockExpire: retryAfterSeconds,
    };
  }

  /** When counting fails, sign-in stays closed, but the endpoints for apps open: apps give up on their tokens when it refuses. */
  private async look(budget: RequestBudget, key: string): Promise<Standing> {
    try {
      const standing = await this.counter.peek(budget, key);
      if (!standing.spent && budget.counts === 'calls') {
        await this.counter.hit(budget, key);
        await this.audit.afterHit(budget, standing.hits + 1);
      }
      return standing;
    } catch (error) {
      if (budget.routes === 'decision') throw error;
      this.logger.error(`${budget.name} could not be counted: ${(error as Error).message}`);
      return { spent: false, hits: 0, retryAfterSeconds: 0 };
    }
  }
}
