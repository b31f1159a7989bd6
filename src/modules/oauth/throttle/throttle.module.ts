import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import type { Request } from 'express';
import { AppConfig } from '../../../config/app-config.js';
import { BrowserCookies } from '../sign-in/browser-cookies.js';
import { BudgetKeeper } from './budget-keeper.js';
import { CallCounter } from './call-counter.js';
import { FailureCounter } from './failure-counter.js';
import { requestBudgets } from './oauth-budgets.js';
import { throttledRoutes } from './oauth-throttler.guard.js';
import { OAuthThrottlerStorage } from './oauth-throttler.storage.js';
import { RollingCounter } from './rolling-counter.js';
import { ThrottleMetrics } from './throttle-metrics.js';
import { ThrottleRepository } from './throttle.repository.js';
import { Trackers } from './trackers.js';

@Module({
  providers: [
    ThrottleRepository,
    ThrottleMetrics,
    RollingCounter,
    BudgetKeeper,
    OAuthThrottlerStorage,
    FailureCounter,
    CallCounter,
    Trackers,
    BrowserCookies,
  ],
  exports: [
    RollingCounter,
    ThrottleMetrics,
    OAuthThrottlerStorage,
    FailureCounter,
    CallCounter,
    Trackers,
    BrowserCookies,
  ],
})
export class ThrottleStorageModule {}

/** `@nestjs/throttler` with the budgets of the configuration, counted in the database. */
export const OAuthThrottlerModule = ThrottlerModule.forRootAsync({
  imports: [ThrottleStorageModule],
  inject: [AppConfig, OAuthThrottlerStorage, Trackers],
  useFactory: (config: AppConfig, storage: OAuthThrottlerStorage, trackers: Trackers) => ({
    storage,
    setHeaders: false,
    throttlers: requestBudgets(config).map(({ name, limit, windowMs, routes, by }) => ({
      name,
      limit,
      ttl: windowMs,
      skipIf: (context) => throttledRoutes(context) !== routes,
      getTracker: (request) => trackers.of(request as Request, by),
      generateKey: (_context, tracker) => tracker,
    })),
  }),
});
