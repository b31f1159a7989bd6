import { Global, Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { AccessTokenVerifier } from './platform/access/caller.js';
import { BearerGuard, ScopesGuard } from './platform/access/guards.js';
import { TestFaultGuard, WebhookFaults } from './platform/access/test-fault.js';
import { AuditEventReader, AuditLog } from './platform/audit/audit-log.repository.js';
import { Clock, SystemClock } from './platform/clock.js';
import { AppConfig, ConfigModule } from './platform/config/app-config.js';
import { DatabaseModule } from './platform/database/database.module.js';
import { entities } from './entities.js';
import { ApiErrorFilter } from './platform/http/errors/api-error.filter.js';
import { CallLimitStorage } from './platform/http/call-limit-storage.js';
import { IdempotencyKeysRepository } from './platform/http/idempotency/idempotency-keys.repository.js';
import { Idempotency } from './platform/http/idempotency/idempotency.service.js';
import { AllowedMethods } from './platform/http/server/unrouted-requests.js';
import { RequestPipe } from './platform/http/validation/request.pipe.js';
import { ClockSkew } from './platform/lifecycle/clock-skew.js';
import { HealthController, Readiness } from './platform/lifecycle/health.controller.js';
import { JobRunner } from './platform/lifecycle/job-runner.service.js';
import { JobRunsRepository } from './platform/lifecycle/job-runs.repository.js';
import { Shutdown } from './platform/lifecycle/shutdown.js';
import { AccessLog } from './platform/observability/access-log.js';
import { DatabaseMetrics } from './platform/observability/database-metrics.js';
import { Metrics } from './platform/observability/metrics.js';
import { MetricsServer } from './platform/observability/metrics-server.js';
import { AnalyticsModule } from './modules/analytics/analytics.module.js';
import { CommentsModule } from './modules/comments/comments.module.js';
import { DemoModule } from './modules/demo/demo.module.js';
import { OAuthModule } from './modules/oauth/oauth.module.js';
import { SmsSender, createSmsSender } from './modules/oauth/sign-in/sms/sms-senders.js';
import { TokensService } from './modules/oauth/tokens/tokens.service.js';
import { PostsModule } from './modules/posts/posts.module.js';
import { QuotaModule } from './modules/quota/quota.module.js';
import { WebhookEndpoints } from './modules/webhooks/webhook-endpoints.service.js';
import { WebhooksModule } from './modules/webhooks/webhooks.module.js';
import { UsersModule } from './modules/users/users.module.js';
import { Bulkhead } from './platform/http/server/bulkhead.js';
import { UnknownPathFilter } from './pages/not-found-page.js';
import { PagesModule } from './pages/pages.module.js';
import { DocsModule } from './docs/docs.module.js';
import { OperationsModule } from './modules/operations/operations.module.js';

const SERVICES = [
  AuditLog,
  AuditEventReader,
  Metrics,
  MetricsServer,
  DatabaseMetrics,
  AccessLog,
  Bulkhead,
  AllowedMethods,
  CallLimitStorage,
  Idempotency,
  Shutdown,
  ClockSkew,
  Readiness,
  JobRunsRepository,
  JobRunner,
];

/** The services of the platform, and the clock and the SMS gateway, which tests replace. */
@Global()
@Module({
  controllers: [HealthController],
  providers: [
    ...SERVICES,
    IdempotencyKeysRepository,
    { provide: Clock, useClass: SystemClock },
    {
      provide: SmsSender,
      inject: [AppConfig, Clock],
      useFactory: (config: AppConfig, clock: Clock) => createSmsSender(config.sms, clock),
    },
  ],
  exports: [...SERVICES, Clock, SmsSender],
})
class PlatformModule {}

/**
 * The composition root: imports all modules, binds the ports `Clock`, `SmsSender` and `AccessTokenVerifier` to their implementations,
 * and registers the guards, the pipe and the exception filters of all routes.
 */
@Module({})
export class AppModule {
  static with(config: AppConfig): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.with(config),
        DatabaseModule.with(entities),
        PagesModule,
        // Express matches the routes of these modules in this order, so the busiest come first.
        UsersModule,
        PostsModule,
        CommentsModule,
        AnalyticsModule,
        QuotaModule,
        OAuthModule,
        WebhooksModule,
        DemoModule,
        DocsModule,
        PlatformModule,
        OperationsModule,
      ],
      providers: [
        { provide: AccessTokenVerifier, useExisting: TokensService },
        { provide: WebhookFaults, useExisting: WebhookEndpoints },
        // Nest runs the guards in this order.
        { provide: APP_GUARD, useExisting: Bulkhead },
        { provide: APP_GUARD, useClass: BearerGuard },
        { provide: APP_GUARD, useClass: TestFaultGuard },
        { provide: APP_GUARD, useClass: ScopesGuard },
        { provide: APP_PIPE, useClass: RequestPipe },
        // Nest asks the last filter first.
        { provide: APP_FILTER, useClass: ApiErrorFilter },
        { provide: APP_FILTER, useClass: UnknownPathFilter },
      ],
    };
  }
}
