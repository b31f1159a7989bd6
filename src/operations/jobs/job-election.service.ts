import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { JobRunsRepository } from './job-runs.repository.js';

/** Lets one of all processes run a job. */
@Injectable()
export class JobElection {
  constructor(
    private readonly runs: JobRunsRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Runs `work` unless somebody did for this job and period, or does now. After a failure the next one may try again.
   * @returns what `work` does, or undefined when somebody else was first
   */
  async once<T>(job: string, period: string, work: () => Promise<T>): Promise<T | undefined> {
    if (!(await this.runs.claim(job, period, this.clock.now()))) return undefined;
    try {
      const outcome = await work();
      await this.runs.finish(job, period, this.clock.now());
      return outcome;
    } catch (error) {
      // A database that is away fails the release as well; the first failure is the one to tell.
      await this.runs.release(job, period).catch(() => undefined);
      throw error;
    }
  }
}
