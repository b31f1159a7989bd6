import { Injectable } from '@nestjs/common';
import { Clock, HOUR, later, MINUTE } from '../../common/clock.js';
import { periodStart } from '../../modules/quota/period.js';
import { JOBS, PRUNE, QUOTA_RESET, USAGE_ROLLUP, type JobName } from '../jobs/job-names.js';
import { JobRunsRepository } from '../jobs/job-runs.repository.js';
import { ok, warning, type Check, type Finding } from './check.js';

interface Expectation {
  /** Since when the job should have ended at least once. */
  due: (now: Date) => Date;
  /** Does the same by hand. */
  command: string;
}

const EXPECTED: Readonly<Record<JobName, Expectation>> = {
  [PRUNE]: { due: (now) => later(now, -2 * HOUR), command: 'prune' },
  [QUOTA_RESET]: { due: periodStart, command: 'quota reset' },
  [USAGE_ROLLUP]: { due: (now) => later(now, -30 * MINUTE), command: 'usage rollup' },
};

/** Whether the jobs of the service run. Nothing waits for one of them, so one that does not is easily overlooked. */
@Injectable()
export class JobsCheck implements Check {
  readonly name = 'jobs';

  constructor(
    private readonly runs: JobRunsRepository,
    private readonly clock: Clock,
  ) {}

  run(): Promise<Finding[]> {
    return Promise.all(JOBS.map((name) => this.findingOn(name)));
  }

  private async findingOn(name: JobName): Promise<Finding> {
    const { due, command } = EXPECTED[name];
    const ended = await this.runs.findLastFinish(name);
    if (ended !== null && ended >= due(this.clock.now()))
      return ok(`The job ${name} last ended at ${ended.toISOString()}.`);
    const last = ended === null ? 'has never ended' : `last ended at ${ended.toISOString()}`;
    return warning(
      `The job ${name} ${last}. The service runs it: is it up, and what does its log say?`,
      `npm run -s cli -- ${command}`,
    );
  }
}
