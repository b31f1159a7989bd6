import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { Clock } from '../../platform/clock.js';
import { QUOTA_RESET } from '../../platform/lifecycle/job-names.js';
import { JobRunner } from '../../platform/lifecycle/job-runner.service.js';
import { QuotaMonths, type ClosedMonths } from '../quota/months/quota-months.service.js';
import { periodOf } from '../quota/quota-period.js';

/**
 * The quota reset at the start of a calendar month (source document, section 8). Counters need no reset, because the month is
 * part of their key; what is left is to close the months before. Runs once a month among all processes. It is tried every
 * hour, so a service that was down when the month began does it later.
 */
@Injectable()
export class QuotaResetCron {
  constructor(
    private readonly months: QuotaMonths,
    private readonly jobs: JobRunner,
    private readonly clock: Clock,
  ) {}

  @Cron('0 * * * *', { name: QUOTA_RESET, timeZone: 'UTC' })
  run(): Promise<void> {
    return this.jobs.run({
      name: QUOTA_RESET,
      period: periodOf(this.clock.now()),
      work: () => this.months.closeEarlier(),
      tell: resetSentence,
      whenItFails:
        'The quota reset failed; quotas are right without it. The next hour tries again, and so does the command "quota reset".',
    });
  }
}

export function resetSentence({ closed, previous }: ClosedMonths): string {
  return `Closed earlier months of ${closed} apps. ${previous.period}: ${previous.posts} posts by ${previous.apps} apps.`;
}
