import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Gauge } from 'prom-client';
import { addMilliseconds, Clock, SECOND } from '../clock.js';
import { DatabaseClock } from '../database/database-status.js';
import { Metrics } from '../observability/metrics.js';
import type { JobRun } from './job-run.entity.js';
import { JobRunsRepository } from './job-runs.repository.js';

/** Beyond this difference, one of the two clocks is wrong. */
export const MAX_SKEW_MS = 5 * SECOND;

/** How often, besides each probe. The time of a measurement during an outage is limited by `DB_TIMEOUT_MS`. */
const MEASURE_EVERY_MS = 5 * SECOND;

/** Compares the clock of this machine with that of the database, and corrects the times of the process by the difference. */
@Injectable()
export class ClockSkew implements OnApplicationBootstrap {
  constructor(
    private readonly clock: Clock,
    private readonly databaseClock: DatabaseClock,
    private readonly runs: JobRunsRepository,
    { registry }: Metrics,
  ) {
    const gauge: Gauge = new Gauge({
      name: 'clock_skew_seconds',
      help: 'Clock of this machine minus that of the database; 0 on SQLite, NaN while the database is unavailable.',
      registers: [registry],
      collect: async () => {
        const skewMs = await this.measure().catch(() => Number.NaN);
        gauge.set((skewMs ?? 0) / SECOND);
      },
    });
  }

  /** Without the database, the times are corrected by the first probe that reaches it. */
  async onApplicationBootstrap(): Promise<void> {
    const problem = await this.problem().catch(() => undefined);
    if (problem !== undefined) new Logger('Clock').warn(`No job runs: ${problem}.`);
  }

  /** Not only when a probe asks: the clock of the machine can be set at any time. */
  @Interval(MEASURE_EVERY_MS)
  async watch(): Promise<void> {
    await this.measure().catch(() => undefined);
  }

  /** A message for operators; undefined if there is no problem, and on SQLite. @throws the driver's error */
  async problem(): Promise<string | undefined> {
    const skewMs = await this.measure();
    return skewMs === undefined ? undefined : skewProblem(skewMs);
  }

  /**
   * Why no job may run, since jobs delete what has expired, and one of two clocks is wrong; undefined if they may. On SQLite, where there
   * is no second clock, a run in the future shows that the clock was ahead, or has stepped back. @throws the driver's error
   */
  async jobProblem(): Promise<string | undefined> {
    const skewMs = await this.measure();
    if (skewMs !== undefined) return skewProblem(skewMs);
    const run = await this.findFutureRun();
    return (
      run &&
      `the job ${run.job} last ran at ${lastTimeOf(run).toISOString()}, which is in the future: correct the clock of this machine, then run "devplatform doctor --fix"`
    );
  }

  /** A job run with a time that lies in the future. */
  async findFutureRun(): Promise<JobRun | undefined> {
    return (await this.runs.findAfter(this.latestTime())) ?? undefined;
  }

  /** Times after this one lie in the future. */
  latestTime(): Date {
    return addMilliseconds(this.clock.now(), MAX_SKEW_MS);
  }

  /**
   * Milliseconds by which the machine is ahead; negative if it is behind; undefined on SQLite. The database reads its clock between
   * query and result. While what was known lies in this interval, it stays, so that a slow measurement changes nothing.
   */
  private async measure(): Promise<number | undefined> {
    const before = this.clock.machineTime();
    const database = (await this.databaseClock.now())?.getTime();
    const after = this.clock.machineTime();
    if (database === undefined) return undefined;
    const { skewMs } = this.clock;
    this.clock.skewMs = Math.min(Math.max(skewMs, before - database), after - database);
    return this.clock.skewMs;
  }
}

function skewProblem(skewMs: number): string | undefined {
  if (Math.abs(skewMs) <= MAX_SKEW_MS) return undefined;
  const seconds = (Math.abs(skewMs) / SECOND).toFixed(1);
  return `the clock of this machine is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the database's: synchronize both machines with a time server (NTP)`;
}

export function lastTimeOf({ startedAt, finishedAt }: JobRun): Date {
  return finishedAt ?? startedAt;
}
