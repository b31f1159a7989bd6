import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { SECOND } from '../../../common/clock.js';
import { AppConfig } from '../../../config/app-config.js';
import { BudgetKeeper } from './budget-keeper.js';
import { requestBudgets, type RequestBudget } from './oauth-budgets.js';

type StorageRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** The throttler's storage in our database. Budgets of failures are only looked at here: `FailureCounter` fills them. */
@Injectable()
export class OAuthThrottlerStorage implements ThrottlerStorage {
  private readonly budgets: ReadonlyMap<string, RequestBudget>;

  constructor(
    private readonly keeper: BudgetKeeper,
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
    const { spent, hits, retryAfterSeconds } = await this.keeper.ask(budget, key);
    return {
      totalHits: hits + 1,
      timeToExpire: ttl / SECOND,
      isBlocked: spent,
      timeToBlockExpire: retryAfterSeconds,
    };
  }
}
