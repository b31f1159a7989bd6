import { Injectable, Logger } from '@nestjs/common';
import { Counter } from 'prom-client';
import { Clock, HOUR, later, MINUTE, SECOND, startOf } from '../clock.js';
import { Metrics, registerStoredGauge } from '../observability/metrics.js';
import { JobRunsRepository } from './job-runs.repository.js';

export const JOBS = ['prune', 'quota-reset', 'usage-rollup'] as const;

export type JobName = (typeof JOBS)[number];

/** A job runs once in each period. */
interface JobPeriod {
  /** Such as `2026-11-21T09` or `2026-11-21T09:30`, in UTC. */
  name: string;
  end: Date;
}

export function hourOf(time: Date): JobPeriod {
  return periodOf(time, HOUR, 'yyyy-mm-ddThh');
}

export function tenMinutesOf(time: Date): JobPeriod {
  return periodOf(time, 10 * MINUTE, 'yyyy-mm-ddThh:mm');
}

function periodOf(time: Date, lengthMs: number, format: string): JobPeriod {
  const start = startOf(time, lengthMs);
  return { name: start.toISOString().slice(0, format.length), end: later(start, lengthMs) };
}

export interface Job<T> {
  name: JobName;
  period: string;
  /** Safe to run late, twice, never, or concurrently. */
  work: () => Promise<T>;
  /** The log line about a result; undefined for none. */
  report: (result: T) => string | undefined;
  failureMessage: string;
}

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

  /** Runs a job unless a process did or does in this period. A failed run may be repeated. Never rejects. */
  async run<T>(job: Job<T>): Promise<void> {
    const { name } = job;
    const logger = new Logger(name);
    try {
      const startedAt = this.clock.now();
      if (!(await this.runs.claim(name, job.period, startedAt))) return;
      const sentence = job.report(await this.finish(job, startedAt));
      this.runsTotal.inc({ task: name, outcome: 'done' });
      if (sentence !== undefined) logger.log(sentence);
    } catch (error) {
      this.runsTotal.inc({ task: name, outcome: 'failed' });
      logger.error(job.failureMessage, (error as Error).stack);
    }
  }

  private async finish<T>({ name, period, work }: Job<T>, startedAt: Date): Promise<T> {
    try {
      const result = await work();
      await this.runs.finish(name, period, startedAt, this.clock.now());
      return result;
    } catch (error) {
      // If the database is unavailable, this fails as well; the first error is the one to report.
      await this.runs.release(name, period, startedAt).catch(() => undefined);
      throw error;
    }
  }
}
