import { Injectable, Logger } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { Clock } from '../../common/clock.js';
import { JobRunsRepository } from './job-runs.repository.js';
import { QuotaReset } from './quota-reset.service.js';

const JOB = 'quota-reset';

/** Runs the quota reset in the service, once per month among all of its processes. */
@Injectable()
export class QuotaResetCron {
  private readonly logger = new Logger(QuotaResetCron.name);

  constructor(
    private readonly reset: QuotaReset,
    private readonly runs: JobRunsRepository,
    private readonly clock: Clock,
  ) {}

  @Cron('0 0 1 * *', { name: JOB, timeZone: 'UTC' })
  async run(): Promise<void> {
    const month = this.clock.now().toISOString().slice(0, 7);
    try {
      if (await this.runs.claim(JOB, month, this.clock.now())) await this.runClaimed(month);
    } catch (error) {
      this.logger.error(
        'The quota reset failed; quotas are right without it. To open the month, run the command "quota reset".',
        (error as Error).stack,
      );
    }
  }

  private async runClaimed(month: string): Promise<void> {
    try {
      const { period, opened, previous } = await this.reset.run();
      await this.runs.finish(JOB, month, this.clock.now());
      this.logger.log(
        `Opened ${period} for ${opened} apps. ${previous.period}: ${previous.posts} posts by ${previous.apps} apps.`,
      );
    } catch (error) {
      // A database that is away fails the release as well; the first failure is the one to tell.
      await this.runs.release(JOB, month).catch(() => undefined);
      throw error;
    }
  }
}
