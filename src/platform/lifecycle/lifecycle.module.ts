import { Global, Module } from '@nestjs/common';
import { AccessLog } from '../observability/access-log.js';
import { DatabaseMetrics } from '../observability/database-metrics.js';
import { MetricsServer } from '../observability/metrics-server.js';
import { ClockSkew } from './clock-skew.js';
import { HealthController } from './health.controller.js';
import { Readiness } from './health.js';
import { JobRunner } from './job-runner.service.js';
import { JobRunsRepository } from './job-runs.repository.js';
import { Shutdown } from './shutdown.js';

const SERVICES = [
  Shutdown,
  ClockSkew,
  Readiness,
  AccessLog,
  DatabaseMetrics,
  MetricsServer,
  JobRunsRepository,
  JobRunner,
];

/** Health, jobs and shutdown of the process, and what it reports: its access log and metrics. */
@Global()
@Module({ controllers: [HealthController], providers: SERVICES, exports: SERVICES })
export class LifecycleModule {}
