import { Injectable, Logger } from '@nestjs/common';
import { Counter } from 'prom-client';
import { Clock, HOUR, later, MINUTE, SECOND, startOf } from '../clock.js';
import { Metrics, registerStoredGauge } from '../observability/metrics.js';
import { JOBS } from './job-names.js';
import { JobRunsRepository } from './job-runs.repository.js';

/** A stretch of time that a job runs once for. As text, those of one length sort by time. */
export interface JobPeriod {
  /** Such as `2026-11-21T09` or `2026-11-21T09:30`, in UTC. */
  name: string;
  /** When the next one begins, which has a runner of its own. */
  end: Date;
}

export function hourOf(time: Date): JobPeriod {
  return { name: prefix(time, 'yyyy-mm-ddThh'), end: later(startOf(time, HOUR), HOUR) };
}

export function tenMinutesOf(time: Date): JobPeriod {
  const start = startOf(time, 10 * MINUTE);
  return { name: prefix(start, 'yyyy-mm-ddThh:mm'), end: later(start, 10 * MINUTE) };
}

function prefix(time: Date, shape: string): string {
  return time.toISOString().slice(0, shape.length);
}

/** What a job does in one of all processes, once for each period. */
export interface Job<T> {
  name: string;
  /** What this run is for, such as the month `2026-11`. */
  period: string;
  /** Safe to run late, twice, never, or in two places at once. */
  work: () => Promise<T>;
  /** A sentence about what was done, where there is something to say. */
  tell: (outcome: T) => string | undefined;
  /** What its failure means, and who tries again. */
  whenItFails: string;
}

/** Runs the jobs of the service. */
@Injectable()
export class JobRunner {
  private readonly runsTotal: Counter<'task' | 'outcome'>;

  constructor(
    private readonly runs: JobRunsRepository,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.runsTotal = new Counter({
      name: 'job_runs_total',
      help: 'Runs of jobs in this process, by how they ended: done or failed.',
      labelNames: ['task', 'outcome'],
      registers: [metrics.registry],
    });
    for (const task of JOBS)
      for (const outcome of ['done', 'failed']) this.runsTotal.inc({ task, outcome }, 0);
  }

  /**
   * Runs a job unless somebody did for this period, or does now. After a failure the next one may try again, and so may
   * whoever finds a run that was given up. Never fails.
   */
  async run<T>(job: Job<T>): Promise<void> {
    const { name } = job;
    const logger = new Logger(name);
    try {
      const startedAt = this.clock.now();
      if (!(await this.runs.claim(job.name, job.period, startedAt))) return;
      const sentence = job.tell(await this.finish(job, startedAt));
      this.runsTotal.inc({ task: name, outcome: 'done' });
      if (sentence !== undefined) logger.log(sentence);
    } catch (error) {
      this.runsTotal.inc({ task: name, outcome: 'failed' });
      logger.error(job.whenItFails, (error as Error).stack);
    }
  }

  private async finish<T>({ name, period, work }: Job<T>, startedAt: Date): Promise<T> {
    try {
      const outcome = await work();
      await this.runs.finish(name, period, startedAt, this.clock.now());
      return outcome;
    } catch (error) {
      // A database that is away fails the release as well; the first failure is the one to tell.
      await this.runs.release(name, period, startedAt).catch(() => undefined);
      throw error;
    }
  }
}

/** When each job ended last, in whatever process. */
@Injectable()
export class JobMetrics {
  constructor(metrics: Metrics, runs: JobRunsRepository) {
    registerStoredGauge(
      metrics.registry,
      {
        name: 'job_last_finished_timestamp_seconds',
        help: 'When the newest run of a job that was done ended, in any process.',
        labelNames: ['task'],
      },
      async () => {
        const ends = await Promise.all(JOBS.map((job) => runs.findLastFinish(job)));
        return JOBS.flatMap((job, at) => {
          const end = ends[at];
          return end ? [{ labels: { task: job }, value: end.getTime() / SECOND }] : [];
        });
      },
    );
  }
}
