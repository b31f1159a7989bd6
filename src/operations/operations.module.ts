import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { DemoModule } from '../modules/demo/demo.module.js';
import { OAuthModule } from '../modules/oauth/oauth.module.js';
import { QuotaModule } from '../modules/quota/quota.module.js';
import { PagesModule } from '../pages/pages.module.js';
import { LandingController } from './docs/landing.controller.js';
import { HealthController } from './health/health.controller.js';
import { Readiness } from './health/readiness.js';
import { JobElection } from './jobs/job-election.service.js';
import { JobRunsRepository } from './jobs/job-runs.repository.js';
import { PruneCron } from './jobs/prune.cron.js';
import { Prune } from './jobs/prune.service.js';
import { QuotaResetCron } from './jobs/quota-reset.cron.js';
import { QuotaReset } from './jobs/quota-reset.service.js';
import { MetricsServer } from './metrics/metrics-server.js';
import { Shutdown } from './shutdown/shutdown.js';

@Module({
  imports: [
    ScheduleModule.forRoot(),
    IdempotencyModule,
    OAuthModule,
    QuotaModule,
    DemoModule,
    PagesModule,
  ],
  controllers: [LandingController, HealthController],
  providers: [
    Shutdown,
    Readiness,
    MetricsServer,
    JobRunsRepository,
    JobElection,
    QuotaReset,
    QuotaResetCron,
    Prune,
    PruneCron,
  ],
  exports: [QuotaReset, Prune, Shutdown],
})
export class OperationsModule {}
