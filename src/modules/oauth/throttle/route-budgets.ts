import { Injectable } from '@nestjs/common';
import { AppConfig } from '../../../config/app-config.js';
import { requestBudgets, type RequestBudget, type ThrottledRoutes } from './oauth-budgets.js';

/** The budgets of each kind of route that are asked before its requests are looked at. */
@Injectable()
export class RouteBudgets {
  private readonly all: readonly RequestBudget[];

  constructor(config: AppConfig) {
    this.all = requestBudgets(config);
  }

  /** None where there are no routes. */
  of(routes: ThrottledRoutes | undefined): RequestBudget[] {
    return this.all.filter((budget) => budget.routes === routes);
  }
}
