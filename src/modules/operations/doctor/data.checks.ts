import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock, HOUR, later, MINUTE } from '../../../platform/clock.js';
import type { Discrepancy, CounterCache } from '../../../platform/database/counter-cache.js';
import type { TransactionRunner } from '../../../platform/database/transaction.js';
import {
  type JobName,
  JOBS,
  PRUNE,
  QUOTA_RESET,
  USAGE_ROLLUP,
} from '../../../platform/lifecycle/job-names.js';
import { JobRunsRepository } from '../../../platform/lifecycle/job-runs.repository.js';
import { QuotaReconciliation } from '../../quota/months/quota-reconciliation.service.js';
import { periodStart } from '../../quota/quota-period.js';
import { type Check, failed, type Finding, ok, warning } from './check.js';

const SHOWN = 3;

/** Whether a counter is the number of rows that it counts; sets each that is not right in a transaction of its own. */
export class CounterCheck implements Check {
  readonly name = 'counters';

  constructor(
    private readonly counter: CounterCache,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
  ) {}

  async run(repair?: Change): Promise<Finding[]> {
    const { name } = this.counter;
    const shown: string[] = [];
    let wrong = 0;
    for await (const found of this.counter.discrepancies()) {
      const drift = repair ? await this.correct(found.id, repair) : found;
      if (!drift) continue;
      wrong += 1;
      if (shown.length < SHOWN) shown.push(`${drift.id} (${drift.stored}, not ${drift.counted})`);
    }
    if (wrong === 0) return [ok(`${name} is right in every row.`)];
    const rows = `${wrong} ${wrong === 1 ? 'row' : 'rows'}, such as ${shown.join(', ')}`;
    if (repair) return [ok(`${name} is right now. It was wrong in ${rows}.`)];
    return [failed(`${name} is wrong in ${rows}.`, 'npm run -s cli -- doctor --fix')];
  }

  private correct(id: string, change: Change): Promise<Discrepancy | undefined> {
    return this.transactions.run(async (tx) => {
      const drift = await this.counter.correct(tx, id);
      if (drift) {
        const { stored: from, counted: to } = drift;
        const details = { counter: this.counter.name, from, to };
        await this.audit.record(tx, 'counters.fixed', id, change, details);
      }
      return drift;
    });
  }
}

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

/** Whether what each app has used this month is what its recorded calls come to. */
@Injectable()
export class QuotaCheck implements Check {
  readonly name = 'quota';

  constructor(private readonly reconciliation: QuotaReconciliation) {}

  async run(repair?: Change): Promise<Finding[]> {
    const differences = await this.reconciliation.differences();
    const apps = differences.length === 1 ? '1 app' : `${differences.length} apps`;
    if (differences.length === 0) return [ok("This month's counters are what is recorded.")];
    if (!repair)
      return [
        failed(
          `This month's counters of ${apps} are not what is recorded.`,
          'npm run -s cli -- quota reconcile',
        ),
      ];
    for (const difference of differences) await this.reconciliation.fix(difference, repair);
    return [ok(`This month's counters of ${apps} were set to what is recorded.`)];
  }
}
