import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { Clock } from '../../common/clock.js';
import { periodOf } from '../../modules/quota/period.js';
import { QUOTA_RESET } from './job-names.js';
import { JobRunner } from './job-runner.service.js';
import { QuotaReset, resetSentence } from './quota-reset.service.js';

/**
 * Runs the quota reset in the service, once per month among all of its processes. It is tried every hour: a service that was
 * down when the month began does it later.
 */
@Injectable()
export class QuotaResetCron {
  constructor(
    private readonly reset: QuotaReset,
    private readonly jobs: JobRunner,
    private readonly clock: Clock,
  ) {}

  @Cron('0 * * * *', { name: QUOTA_RESET, timeZone: 'UTC' })
  run(): Promise<void> {
    return this.jobs.run({
      name: QUOTA_RESET,
      period: periodOf(this.clock.now()),
      work: () => this.reset.run(),
      tell: resetSentence,
      whenItFails:
        'The quota reset failed; quotas are right without it. The next hour tries again, and so does the command "quota reset".',
    });
  }
}
