import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import type { Request } from 'express';
import { SECOND } from '../../../platform/clock.js';
import { BrowserCookies } from '../protocol/browser-cookies.js';
import { BudgetKeeper } from './rate-limiter.js';
import { CallCounter } from './call-counter.js';
import { FailureCounter } from './failure-counter.js';
import { OAuthThrottlerStorage } from './oauth-throttler.storage.js';
import { RouteBudgets } from './rate-limits.js';
import { RollingCounter } from './sliding-window-counter.js';
import { ThrottleMetrics } from './rate-limit-metrics.js';
import { ThrottleRepository } from './rate-limit.repository.js';
import { Trackers } from './trackers.js';

@Module({
  providers: [
    ThrottleRepository,
    ThrottleMetrics,
    RollingCounter,
    RouteBudgets,
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

/** One call in a second: what `@nestjs/throttler` wants to be told, while the storage goes by the budgets of the configuration. */
const ANY = { limit: 1, ttl: SECOND };

/** `@nestjs/throttler` with the budgets of the configuration, counted in the database. */
export const OAuthThrottlerModule = ThrottlerModule.forRootAsync({
  imports: [ThrottleStorageModule],
  inject: [OAuthThrottlerStorage],
  useFactory: (storage: OAuthThrottlerStorage) => ({
    storage,
    setHeaders: false,
    throttlers: [
      {
        ...ANY,
        getTracker: (request) => storage.keyOf(request as Request),
        generateKey: (_context, key) => key,
      },
    ],
  }),
});
