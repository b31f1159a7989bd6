import { Injectable, Logger } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { Clock, HOUR } from '../../common/clock.js';
import { JobElection } from './job-election.service.js';
import { hourOf } from './job-runs.repository.js';
import { Prune, PRUNE, totalOf } from './prune.service.js';

/** Prunes in the service, once per hour among all of its processes. */
@Injectable()
export class PruneCron {
  private readonly logger = new Logger(PruneCron.name);

  constructor(
    private readonly prune: Prune,
    private readonly election: JobElection,
    private readonly clock: Clock,
  ) {}

  @Cron('0 * * * *', { name: PRUNE, timeZone: 'UTC' })
  async run(): Promise<void> {
    const now = this.clock.now();
    // The next hour has a runner of its own.
    const until = new Date((Math.floor(now.getTime() / HOUR) + 1) * HOUR);
    try {
      const deleted = await this.election.once(PRUNE, hourOf(now), () => this.prune.run(until));
      if (deleted && totalOf(deleted) > 0) this.logger.log(`Deleted ${sentence(deleted)}.`);
    } catch (error) {
      this.logger.error(
        'Pruning failed; only the database grows by it. The next hour tries again, and so does the command "prune".',
        (error as Error).stack,
      );
    }
  }
}

function sentence(deleted: Record<string, number>): string {
  return Object.entries(deleted)
    .filter(([, rows]) => rows > 0)
    .map(([table, rows]) => `${rows} of ${table}`)
    .join(', ');
}
