import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { CommentsModule } from '../modules/comments/comments.module.js';
import { DemoModule } from '../modules/demo/demo.module.js';
import { OAuthModule } from '../modules/oauth/oauth.module.js';
import { PostsModule } from '../modules/posts/posts.module.js';
import { QuotaModule } from '../modules/quota/quota.module.js';
import { UsersModule } from '../modules/users/users.module.js';
import { PagesModule } from '../pages/pages.module.js';
import { LandingController } from './docs/landing.controller.js';
import { DOCTOR } from './doctor/doctor.providers.js';
import { Doctor } from './doctor/doctor.service.js';
import { ClockSkew } from './health/clock-skew.js';
import { HealthController } from './health/health.controller.js';
import { Readiness } from './health/readiness.js';
import { JobMetrics } from './jobs/job-metrics.js';
import { JobRunner } from './jobs/job-runner.service.js';
import { JobRunsRepository } from './jobs/job-runs.repository.js';
import { JobsByHand } from './jobs/jobs-by-hand.service.js';
import { PruneCron } from './jobs/prune.cron.js';
import { Prune } from './jobs/prune.service.js';
import { QuotaResetCron } from './jobs/quota-reset.cron.js';
import { QuotaReset } from './jobs/quota-reset.service.js';
import { DatabaseMetrics } from './metrics/database-metrics.js';
import { UsageRollupCron } from './jobs/usage-rollup.cron.js';
import { MetricsServer } from './metrics/metrics-server.js';
import { RequestLog } from './requests/request-log.js';
import { RequestMetrics } from './requests/request-metrics.js';
import { RequestWatch } from './requests/request-watch.js';
import { EverythingPersonal } from './privacy/everything-personal.js';
import { UserErasure } from './privacy/user-erasure.service.js';
import { UserExport } from './privacy/user-export.service.js';
import { SchemaUpgrade } from './schema-upgrade.service.js';
import { Shutdown } from './shutdown/shutdown.js';

@Module({
  imports: [
    ScheduleModule.forRoot(),
    IdempotencyModule,
    UsersModule,
    OAuthModule,
    QuotaModule,
    PostsModule,
    CommentsModule,
    DemoModule,
    PagesModule,
  ],
  controllers: [LandingController, HealthController],
  providers: [
    Shutdown,
    SchemaUpgrade,
    ClockSkew,
    Readiness,
    RequestLog,
    RequestMetrics,
    RequestWatch,
    DatabaseMetrics,
    MetricsServer,
    JobRunsRepository,
    JobRunner,
    JobsByHand,
    JobMetrics,
    QuotaReset,
    QuotaResetCron,
    Prune,
    PruneCron,
    UsageRollupCron,
    ...DOCTOR,
    EverythingPersonal,
    UserExport,
    UserErasure,
  ],
  exports: [QuotaReset, Prune, JobsByHand, Shutdown, Doctor],
})
export class OperationsModule {}
