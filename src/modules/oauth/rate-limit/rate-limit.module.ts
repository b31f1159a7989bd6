import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { AppConfig } from '../../../platform/config/app-config.js';
import { BrowserCookies } from '../protocol/browser-cookies.js';
import { CallLimitStorage, throttlerOptions } from './call-limits.js';
import { FailedAttempts } from './failed-attempts.js';
import { RateLimitReport } from './rate-limit-report.js';
import { RateLimitRepository } from './rate-limit.repository.js';
import { RequestKeys } from './request-keys.js';
import { SlidingWindowCounter } from './sliding-window-counter.js';

const providers = [
  BrowserCookies,
  RequestKeys,
  RateLimitReport,
  RateLimitRepository,
  SlidingWindowCounter,
  FailedAttempts,
  CallLimitStorage,
];

/** Counters and keys of rate limits. */
@Module({ providers, exports: providers })
class RateLimitStorageModule {}

@Module({
  imports: [
    RateLimitStorageModule,
    ThrottlerModule.forRootAsync({
      imports: [RateLimitStorageModule],
      inject: [AppConfig, CallLimitStorage, RequestKeys],
      useFactory: throttlerOptions,
    }),
  ],
  exports: [RateLimitStorageModule],
})
export class RateLimitModule {}
