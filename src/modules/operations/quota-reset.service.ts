import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { Clock } from '../../platform/clock.js';
import { QUOTA_RESET } from '../../platform/lifecycle/job-names.js';
import { JobRunner } from '../../platform/lifecycle/job-runner.service.js';
import { AppsService } from '../oauth/clients/apps.service.js';
import { type MonthChange, QuotaMonths } from '../quota/months/quota-months.service.js';
import { periodOf } from '../quota/quota-period.js';

/**
 * The start of a calendar month (source document, section 8). No app waits for it: a month's count starts at zero with its
 * first post. It opens the rows ahead of the first posts, closes the months before, and tells what the last one came to.
 */
@Injectable()
export class QuotaReset {
  constructor(
    private readonly apps: AppsService,
    private readonly months: QuotaMonths,
  ) {}

  /** Safe to run twice, late, never, or in two places at once. */
  async run(): Promise<MonthChange> {
    const apps = await this.apps.list();
    return this.months.change(
      apps.filter(({ enabled }) => enabled).map(({ clientId }) => clientId),
    );
  }
}

export function resetSentence({ period, opened, closed, previous }: MonthChange): string {
  return `Opened ${period} for ${opened} apps. Closed earlier months of ${closed} apps. ${previous.period}: ${previous.posts} posts by ${previous.apps} apps.`;
}

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
