import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { Clock } from '../../common/clock.js';
import { totalOf, type RowsByTable } from '../../database/batches.js';
import { PRUNE } from './job-names.js';
import { hourOf } from './job-periods.js';
import { JobRunner } from './job-runner.service.js';
import { Prune } from './prune.service.js';

/** Prunes in the service, once per hour among all of its processes. */
@Injectable()
export class PruneCron {
  constructor(
    private readonly prune: Prune,
    private readonly jobs: JobRunner,
    private readonly clock: Clock,
  ) {}

  @Cron('0 * * * *', { name: PRUNE, timeZone: 'UTC' })
  run(): Promise<void> {
    const { name: period, end } = hourOf(this.clock.now());
    return this.jobs.run({
      name: PRUNE,
      period,
      work: () => this.prune.run(end),
      tell: (deleted) => (totalOf(deleted) > 0 ? `Deleted ${sentence(deleted)}.` : undefined),
      whenItFails:
        'Pruning failed; only the database grows by it. The next hour tries again, and so does the command "prune".',
    });
  }
}

function sentence(deleted: RowsByTable): string {
  return Object.entries(deleted)
    .filter(([, rows]) => rows > 0)
    .map(([table, rows]) => `${rows} of ${table}`)
    .join(', ');
}
