import { Global, Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { AccessTokenVerifier } from './platform/access/caller.js';
import { BearerGuard } from './platform/access/bearer.guard.js';
import { ScopesGuard } from './platform/access/scopes.guard.js';
import { AuditModule } from './platform/audit/audit.module.js';
import { Clock, SystemClock } from './platform/clock.js';
import { AppConfig, ConfigModule } from './platform/config/app-config.js';
import { DatabaseModule } from './platform/database/database.module.js';
import { entities } from './entities.js';
import { ApiErrorFilter } from './platform/http/errors/api-error.filter.js';
import { HttpModule } from './platform/http/http.module.js';
import { RequestPipe } from './platform/http/validation/request.pipe.js';
import { LifecycleModule } from './platform/lifecycle/lifecycle.module.js';
import { MetricsModule } from './platform/observability/metrics.js';
import { AnalyticsModule } from './modules/analytics/analytics.module.js';
import { CommentsModule } from './modules/comments/comments.module.js';
import { DemoModule } from './modules/demo/demo.module.js';
import { OAuthModule } from './modules/oauth/oauth.module.js';
import { SmsSender, createSmsSender } from './modules/oauth/sign-in/sms/sms-senders.js';
import { TokensService } from './modules/oauth/tokens/tokens.service.js';
import { PostsModule } from './modules/posts/posts.module.js';
import { QuotaModule } from './modules/quota/quota.module.js';
import { UsersModule } from './modules/users/users.module.js';
import { Bulkhead } from './platform/http/server/bulkhead.js';
import { UnknownPathFilter } from './pages/not-found-page.js';
import { PagesModule } from './pages/pages.module.js';
import { DocsModule } from './docs/docs.module.js';
import { OperationsModule } from './modules/operations/operations.module.js';

/** The clock and the SMS gateway, which tests replace. */
@Global()
@Module({
  providers: [
    { provide: Clock, useClass: SystemClock },
    {
      provide: SmsSender,
      inject: [AppConfig, Clock],
      useFactory: (config: AppConfig, clock: Clock) => createSmsSender(config.sms, clock),
    },
  ],
  exports: [Clock, SmsSender],
})
class ExternalModule {}

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
        ExternalModule,
        DatabaseModule.with(entities),
        AuditModule,
        MetricsModule,
        HttpModule,
        PagesModule,
        // Express matches the routes of these modules in this order, so the busiest come first.
        UsersModule,
        PostsModule,
        CommentsModule,
        AnalyticsModule,
        QuotaModule,
        OAuthModule,
        DemoModule,
        DocsModule,
        LifecycleModule,
        OperationsModule,
      ],
      providers: [
        { provide: AccessTokenVerifier, useExisting: TokensService },
        // Nest runs the guards in this order.
        { provide: APP_GUARD, useExisting: Bulkhead },
        { provide: APP_GUARD, useClass: BearerGuard },
        { provide: APP_GUARD, useClass: ScopesGuard },
        { provide: APP_PIPE, useClass: RequestPipe },
        // Nest asks the last filter first.
        { provide: APP_FILTER, useClass: ApiErrorFilter },
        { provide: APP_FILTER, useClass: UnknownPathFilter },
      ],
    };
  }
}
