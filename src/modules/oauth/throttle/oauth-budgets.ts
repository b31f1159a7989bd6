import { SECOND } from '../../../common/clock.js';
import type { AppConfig } from '../../../config/app-config.js';
import type { Budget } from './rolling-counter.js';

/** Which routes a budget guards: the token endpoint, or the steps of sign-in and decision. */
export type ThrottledRoutes = 'token' | 'decision';

/** What a budget is counted by. */
export type CountedBy = 'address' | 'app-and-address' | 'browser';

export interface OAuthBudget extends Budget {
  routes: ThrottledRoutes;
  by: CountedBy;
  /** `failures` budgets count only what went wrong, so that a busy honest app is never refused for being busy. */
  counts: 'calls' | 'failures';
}

/** The budgets of the OAuth routes (source document, section 8: a rolling window of roughly 15 minutes). */
export function oauthBudgets({ budgets }: AppConfig): OAuthBudget[] {
  const windowMs = budgets.windowSeconds * SECOND;
  const budget = (
    routes: ThrottledRoutes,
    counts: OAuthBudget['counts'],
    by: CountedBy,
    limit: number,
  ): OAuthBudget => ({ name: `${routes}-${counts}-by-${by}`, routes, counts, by, limit, windowMs });
  return [
    budget('token', 'failures', 'app-and-address', budgets.tokenFailures),
    budget('token', 'failures', 'address', budgets.tokenAddressFailures),
    budget('token', 'calls', 'app-and-address', budgets.tokenCalls),
    budget('decision', 'failures', 'browser', budgets.decisionFailures),
    budget('decision', 'failures', 'address', budgets.decisionAddressFailures),
    budget('decision', 'calls', 'browser', budgets.decisionCalls),
  ];
}
