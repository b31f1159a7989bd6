import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { Clock } from '../../platform/clock.js';
import { UsageRollup } from '../quota/calls/usage-rollup.service.js';
import { USAGE_ROLLUP } from '../../platform/lifecycle/job-names.js';
import { JobRunner, tenMinutesOf } from '../../platform/lifecycle/job-runner.service.js';

/** Adds up the call log in the service, every ten minutes in one of its processes. */
@Injectable()
export class UsageRollupCron {
  constructor(
    private readonly usage: UsageRollup,
    private readonly jobs: JobRunner,
    private readonly clock: Clock,
  ) {}

  @Cron('*/10 * * * *', { name: USAGE_ROLLUP, timeZone: 'UTC' })
  run(): Promise<void> {
    const { name: period, end } = tenMinutesOf(this.clock.now());
    return this.jobs.run({
      name: USAGE_ROLLUP,
      period,
      work: () => this.usage.run({ stopAt: end }),
      tell: () => undefined,
      whenItFails:
        'The roll-up failed; totals are late, and no call is pruned without it. The next one tries again in ten minutes, and so does the command "usage rollup".',
    });
  }
}
