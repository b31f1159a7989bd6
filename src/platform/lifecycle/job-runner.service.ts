import { Injectable, Logger } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { AuditLog, type Change } from '../audit/audit-log.repository.js';
import { Clock, HOUR, addMilliseconds, MINUTE, SECOND, floorTo } from '../clock.js';
import { TransactionRunner } from '../database/transaction.js';
import { JobRefused } from '../errors.js';
import { Metrics, registerStoredGauge } from '../observability/metrics.js';
import { ClockSkew } from './clock-skew.js';
import { JobRunsRepository } from './job-runs.repository.js';

export const JOBS = ['prune', 'quota-reset', 'usage-rollup'] as const;

export type JobName = (typeof JOBS)[number];

/** A period for which one process runs the job. */
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

/** @param format as long as the part of the ISO time that becomes the name */
function periodOf(time: Date, lengthMs: number, format: string): JobPeriod {
  const start = floorTo(time, lengthMs);
  return {
    name: start.toISOString().slice(0, format.length),
    end: addMilliseconds(start, lengthMs),
  };
}

export interface Job<T> {
  name: JobName;
  period: string;
  /** Must be safe to skip, delay, repeat and run concurrently. */
  work: () => Promise<T>;
  /** The log line about a result, if it returns one. */
  report?: (result: T) => string | undefined;
  failureMessage: string;
}

@Injectable()
export class JobRunner {
  private readonly runsTotal: Counter<'task' | 'outcome'>;
  private readonly skippedTotal: Counter<'task'>;

  constructor(
    private readonly runs: JobRunsRepository,
    private readonly clock: Clock,
    private readonly clockSkew: ClockSkew,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    metrics: Metrics,
  ) {
    this.runsTotal = metrics.counter(
      'job_runs_total',
      'Job runs of this process, by outcome: done or failed.',
      'task',
      'outcome',
    );
    this.skippedTotal = metrics.counter(
      'jobs_skipped_total',
      'Job runs that this process skipped because its clock is wrong.',
      'task',
    );
    for (const task of JOBS) {
      this.skippedTotal.inc({ task }, 0);
      for (const outcome of ['done', 'failed']) this.runsTotal.inc({ task, outcome }, 0);
    }
    registerStoredGauge(
      metrics.registry,
      {
        name: 'job_last_finished_timestamp_seconds',
        help: 'End of the last successful run of a job, in any process.',
        labelNames: ['task'],
      },
      async () => {
        const ends = await Promise.all(JOBS.map((job) => runs.findLastFinish(job)));
        return JOBS.flatMap((job, index) => {
          const end = ends[index];
          return end ? [{ labels: { task: job }, value: end.getTime() / SECOND }] : [];
        });
      },
    );
  }

  /** Call before each job, because a job relies on the clock of this process. @throws JobRefused */
  async checkClock(): Promise<void> {
    const problem = await this.clockSkew.jobProblem();
    if (problem !== undefined) throw new JobRefused(problem);
  }

  /** Runs a job unless its clock is wrong or a process has claimed this period. Releases the claim of a failed run. Never rejects. */
  async run<T>(job: Job<T>): Promise<void> {
    const { name } = job;
    const logger = new Logger(name);
    try {
      await this.checkClock();
      const startedAt = this.clock.now();
      if (!(await this.runs.claim(name, job.period, startedAt))) return;
      const result = await this.runClaimed(job, startedAt);
      const message = job.report?.(result);
      this.runsTotal.inc({ task: name, outcome: 'done' });
      if (message !== undefined) logger.log(message);
    } catch (error) {
      if (error instanceof JobRefused) {
        this.skippedTotal.inc({ task: name });
        logger.error(error.message);
        return;
      }
      this.runsTotal.inc({ task: name, outcome: 'failed' });
      logger.error(job.failureMessage, (error as Error).stack);
    }
  }

  /** Runs a job for an operator, whatever ran before, and writes an audit event. @throws JobRefused if the clock is wrong */
  async runNow<T>(
    { name: job, period, work }: Pick<Job<T>, 'name' | 'period' | 'work'>,
    change: Change,
  ): Promise<T> {
    await this.checkClock();
    const startedAt = this.clock.now();
    const result = await work();
    const finishedAt = this.clock.now();
    await this.transactions.run(async (tx) => {
      await this.runs.record(tx, { job, period, startedAt, finishedAt });
      await this.audit.record(tx, 'job.run', job, change, { period });
    });
    return result;
  }

  private async runClaimed<T>({ name, period, work }: Job<T>, startedAt: Date): Promise<T> {
    try {
      const result = await work();
      await this.runs.finish(name, period, startedAt, this.clock.now());
      return result;
    } catch (error) {
      // If the database is unavailable, `release` fails as well. Throw the error of `work`.
      await this.runs.release(name, period, startedAt).catch(() => undefined);
      throw error;
    }
  }
}
