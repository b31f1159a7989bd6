import { Injectable } from '@nestjs/common';
import { SECOND } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import type { Budget } from './sliding-window-counter.js';

/** The endpoints that apps call themselves: each has budgets of its own. */
export const CLIENT_ROUTES = ['token', 'revocation', 'introspection'] as const;

/** Which routes a budget guards: an endpoint for apps, the authorization endpoint, or the steps of sign-in and decision. */
export type ThrottledRoutes = (typeof CLIENT_ROUTES)[number] | 'authorize' | 'decision';

/** What of a request a budget may be counted by, before anything of it is proven. */
export type RequestKey = 'address' | 'app-and-address' | 'browser';

export interface OAuthBudget extends Budget {
  routes: ThrottledRoutes;
  /** `failures` budgets count only what went wrong, so that a busy honest app is never refused for being busy. */
  counts: 'calls' | 'failures';
}

/** A budget that is asked before the request is looked at. */
export interface RequestBudget extends OAuthBudget {
  by: RequestKey;
}

/**
 * The budgets that guard the OAuth routes (source document, section 8: a rolling window of roughly 15 minutes). A limit of 0
 * switches one off.
 */
export function requestBudgets({ budgets }: AppConfig): RequestBudget[] {
  const windowMs = budgets.windowSeconds * SECOND;
  const budget = (
    routes: ThrottledRoutes,
    counts: OAuthBudget['counts'],
    by: RequestKey,
    limit: number,
  ): RequestBudget => ({
    name: `${routes}-${counts}-by-${by}`,
    routes,
    counts,
    by,
    limit,
    windowMs,
  });
  return [
    ...CLIENT_ROUTES.flatMap((routes) => [
      budget(routes, 'failures', 'app-and-address', budgets.tokenFailures),
      budget(routes, 'failures', 'address', budgets.tokenAddressFailures),
    ]),
    budget('authorize', 'calls', 'address', budgets.authorizeCalls),
    budget('decision', 'failures', 'browser', budgets.decisionFailures),
    budget('decision', 'failures', 'address', budgets.decisionAddressFailures),
    // First, so that it bounds the rows of those who say that they are a new browser each time.
    budget('decision', 'calls', 'address', budgets.decisionAddressCalls),
    budget('decision', 'calls', 'browser', budgets.decisionCalls),
  ].filter(({ limit }) => limit > 0);
}

/** The budgets of calls that an app has once it proved who it is. */
export function clientBudgets({ budgets }: AppConfig): OAuthBudget[] {
  const { tokenCalls: limit, windowSeconds } = budgets;
  if (limit === 0) return [];
  return CLIENT_ROUTES.map((routes) => ({
    name: `${routes}-calls-by-client`,
    routes,
    counts: 'calls',
    limit,
    windowMs: windowSeconds * SECOND,
  }));
}

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
