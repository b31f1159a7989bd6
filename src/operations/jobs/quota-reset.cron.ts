import { Injectable, Logger } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { Clock } from '../../common/clock.js';
import { JobElection } from './job-election.service.js';
import { QuotaReset } from './quota-reset.service.js';

const JOB = 'quota-reset';

/** Runs the quota reset in the service, once per month among all of its processes. */
@Injectable()
export class QuotaResetCron {
  private readonly logger = new Logger(QuotaResetCron.name);

  constructor(
    private readonly reset: QuotaReset,
    private readonly election: JobElection,
    private readonly clock: Clock,
  ) {}

  @Cron('0 0 1 * *', { name: JOB, timeZone: 'UTC' })
  async run(): Promise<void> {
    const month = this.clock.now().toISOString().slice(0, 'yyyy-mm'.length);
    try {
      const opening = await this.election.once(JOB, month, () => this.reset.run());
      if (!opening) return;
      const { period, opened, previous } = opening;
      this.logger.log(
        `Opened ${period} for ${opened} apps. ${previous.period}: ${previous.posts} posts by ${previous.apps} apps.`,
      );
    } catch (error) {
      this.logger.error(
        'The quota reset failed; quotas are right without it. To open the month, run the command "quota reset".',
        (error as Error).stack,
      );
    }
  }
}
