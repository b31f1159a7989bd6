import type { Change } from '../../../platform/audit/audit-log.repository.js';
import { HOUR, later, MINUTE } from '../../../platform/clock.js';
import type { Discrepancy, CounterCache } from '../../../platform/database/counter-cache.js';
import { type JobName, JOBS } from '../../../platform/lifecycle/job-runner.service.js';
import type { JobRunsRepository } from '../../../platform/lifecycle/job-runs.repository.js';
import type { QuotaReconciliation } from '../../quota/months/quota-reconciliation.service.js';
import { periodStart } from '../../quota/quota-period.js';
import { failed, type Finding, ok, warning } from './check.js';

const MAX_SHOWN = 3;

/** Compares a counter cache with the rows that it counts, and repairs each row in its own transaction. */
export async function counterFindings(
  counter: CounterCache,
  correct?: (id: string) => Promise<Discrepancy | undefined>,
): Promise<Finding[]> {
  const shown: string[] = [];
  let wrong = 0;
  for await (const found of counter.discrepancies()) {
    const discrepancy = correct ? await correct(found.id) : found;
    if (!discrepancy) continue;
    wrong += 1;
    const { id, stored, counted } = discrepancy;
    if (shown.length < MAX_SHOWN) shown.push(`${id} (${stored}, not ${counted})`);
  }
  const { name } = counter;
  if (wrong === 0) return [ok(`${name} is right in every row.`)];
  const rows = `${wrong} ${wrong === 1 ? 'row' : 'rows'}, such as ${shown.join(', ')}`;
  if (correct) return [ok(`${name} is right now. It was wrong in ${rows}.`)];
  return [failed(`${name} is wrong in ${rows}.`, 'npm run -s cli -- doctor --fix')];
}

interface Schedule {
  /** The job should have finished a run since then. */
  due: (now: Date) => Date;
  /** Runs the job by hand. */
  command: string;
}

const SCHEDULES: Readonly<Record<JobName, Schedule>> = {
  prune: { due: (now) => later(now, -2 * HOUR), command: 'prune' },
  'quota-reset': { due: periodStart, command: 'quota reset' },
  'usage-rollup': { due: (now) => later(now, -30 * MINUTE), command: 'usage rollup' },
};

/** Finds jobs that do not run. No request depends on them, so nothing else would show it. */
export function jobFindings(runs: JobRunsRepository, now: Date): Promise<Finding[]> {
  return Promise.all(
    JOBS.map(async (name) => {
      const { due, command } = SCHEDULES[name];
      const ended = await runs.findLastFinish(name);
      if (ended !== null && ended >= due(now))
        return ok(`The job ${name} last ended at ${ended.toISOString()}.`);
      const last = ended === null ? 'has never ended' : `last ended at ${ended.toISOString()}`;
      return warning(
        `The job ${name} ${last}. The service runs it: is it up, and what does its log say?`,
        `npm run -s cli -- ${command}`,
      );
    }),
  );
}

/** Compares this month's usage of each app with its recorded calls. */
export async function quotaFinding(
  reconciliation: QuotaReconciliation,
  repair?: Change,
): Promise<Finding> {
  const differences = await reconciliation.differences();
  if (differences.length === 0) return ok("This month's counters are what is recorded.");
  const apps = differences.length === 1 ? '1 app' : `${differences.length} apps`;
  if (!repair)
    return failed(
      `This month's counters of ${apps} are not what is recorded.`,
      'npm run -s cli -- quota reconcile',
    );
  for (const difference of differences) await reconciliation.fix(difference, repair);
  return ok(`This month's counters of ${apps} were set to what is recorded.`);
}
