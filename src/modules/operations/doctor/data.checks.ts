import type { AuditEventReader } from '../../../platform/audit/audit-event-reader.repository.js';
import type { Change } from '../../../platform/audit/audit-log.repository.js';
import { HOUR, addMilliseconds, MINUTE } from '../../../platform/clock.js';
import type { Discrepancy, CounterCache } from '../../../platform/database/counter-cache.js';
import { type JobName, JOBS } from '../../../platform/lifecycle/job-runner.service.js';
import type { JobRunsRepository } from '../../../platform/lifecycle/job-runs.repository.js';
import type { QuotaReconciliation } from '../../quota/months/quota-reconciliation.service.js';
import { periodStart } from '../../quota/quota-period.js';
import type { UsersService } from '../../users/users.service.js';
import { type ClockSkew, lastTimeOf } from '../../../platform/lifecycle/clock-skew.js';
import { capitalized, failed, type Finding, ok, warning } from './check.js';

const MAX_SHOWN = 3;

/**
 * Compares a counter cache with the rows that it counts.
 * @param repairRow repairs a row in its own transaction; returns undefined if its counter is no longer wrong
 */
export async function counterFindings(
  counter: CounterCache,
  repairRow?: (id: string) => Promise<Discrepancy | undefined>,
): Promise<Finding[]> {
  const shown: string[] = [];
  let wrong = 0;
  for await (const found of counter.discrepancies()) {
    const discrepancy = repairRow ? await repairRow(found.id) : found;
    if (!discrepancy) continue;
    wrong += 1;
    const { id, stored, counted } = discrepancy;
    if (shown.length < MAX_SHOWN) shown.push(`${id} (${stored}, not ${counted})`);
  }
  const { name } = counter;
  if (wrong === 0) return [ok(`${name} is correct in every row.`)];
  const rows = `${wrong} ${wrong === 1 ? 'row' : 'rows'}, such as ${shown.join(', ')}`;
  if (repairRow) return [ok(`${name} was corrected. It was wrong in ${rows}.`)];
  return [failed(`${name} is wrong in ${rows}.`, 'devplatform doctor --fix')];
}

interface Schedule {
  /** The longest time until the first run ends: the time between two attempts, and as much again. */
  firstRunMs: number;
  mustHaveFinishedSince: (now: Date) => Date;
  /** Runs the job manually. */
  command: string;
}

const SCHEDULES: Readonly<Record<JobName, Schedule>> = {
  prune: {
    firstRunMs: 2 * HOUR,
    mustHaveFinishedSince: (now) => addMilliseconds(now, -2 * HOUR),
    command: 'prune',
  },
  'quota-reset': {
    firstRunMs: 2 * HOUR,
    mustHaveFinishedSince: periodStart,
    command: 'quota reset',
  },
  'usage-rollup': {
    firstRunMs: 30 * MINUTE,
    mustHaveFinishedSince: (now) => addMilliseconds(now, -30 * MINUTE),
    command: 'usage rollup',
  },
};

/**
 * Fails if a job ran in the future, by a clock that was wrong then or is wrong now. On SQLite, no job runs until this is corrected.
 * @param repair deletes these runs and returns their number
 */
export async function futureJobFindings(
  clockSkew: ClockSkew,
  repair?: () => Promise<number>,
): Promise<Finding[]> {
  const run = await clockSkew.findFutureRun();
  if (!run) return [];
  const summary = `The job ${run.job} last ran at ${lastTimeOf(run).toISOString()}, which is in the future.`;
  const problem = await clockSkew.problem();
  if (problem !== undefined) return [failed(summary, `${capitalized(problem)}.`)];
  if (!repair)
    return [failed(summary, 'Check the clock of this machine, then run: devplatform doctor --fix')];
  return [ok(`${summary} Deleted ${await repair()} records of runs in the future.`)];
}

/** Warns of each job that has not finished in time. Requests succeed even if a job does not run, so nothing else reveals it. */
export async function jobFindings(
  runs: JobRunsRepository,
  audit: AuditEventReader,
  { now, latest }: { now: Date; latest: Date },
): Promise<Finding[]> {
  const findings = await Promise.all(
    JOBS.map(async (name): Promise<Finding[]> => {
      const { firstRunMs, mustHaveFinishedSince, command } = SCHEDULES[name];
      const finished = await runs.findLastFinish(name);
      // `futureJobFindings` reports it.
      if (finished !== null && finished > latest) return [];
      if (finished !== null && finished >= mustHaveFinishedSince(now))
        return [ok(`The job ${name} last finished at ${finished.toISOString()}.`)];
      if (finished === null && (await wasMigratedSince(audit, addMilliseconds(now, -firstRunMs))))
        return [ok(`The job ${name} has not been due since the installation.`)];
      const last =
        finished === null ? 'has never finished' : `last finished at ${finished.toISOString()}`;
      return [
        warning(
          `The job ${name} ${last}. Check that the service is running, and read its log.`,
          `devplatform ${command}`,
        ),
      ];
    }),
  );
  return findings.flat();
}

/** Whether this version was installed after `since`. Its migration may have added the job. */
async function wasMigratedSince(audit: AuditEventReader, since: Date): Promise<boolean> {
  const { done } = await audit.search({ since, action: 'db.migrated' }, 1).next();
  return done !== true;
}

/**
 * Compares this month's usage of each app with its recorded calls.
 * @param repairAs actor and reason in the audit events of the corrections; without it, nothing is corrected
 */
export async function quotaFinding(
  reconciliation: QuotaReconciliation,
  repairAs?: Change,
): Promise<Finding> {
  const discrepancies = await reconciliation.discrepancies();
  if (discrepancies.length === 0) return ok("This month's quota counters match the call log.");
  const apps = discrepancies.length === 1 ? '1 app' : `${discrepancies.length} apps`;
  if (!repairAs)
    return failed(
      `This month's quota counters of ${apps} differ from the call log.`,
      'devplatform quota reconcile',
    );
  for (const discrepancy of discrepancies) await reconciliation.fix(discrepancy, repairAs);
  return ok(`This month's quota counters of ${apps} were corrected.`);
}

/** Warns of numbers that an earlier version stored with superfluous trunk prefixes, such as +4901711234567. */
export async function phoneFinding(users: UsersService): Promise<Finding> {
  const shown: string[] = [];
  let misparsed = 0;
  for await (const id of users.idsWithMisparsedPhone()) {
    misparsed += 1;
    if (shown.length < MAX_SHOWN) shown.push(id);
  }
  if (misparsed === 0) return ok('Every stored phone number is parsed as itself.');
  return warning(
    `${misparsed} ${misparsed === 1 ? 'user' : 'users'}, such as ${shown.join(', ')}, cannot sign in: the stored phone number has a superfluous prefix, or is no phone number.`,
    'Read the number with "user show --full", and correct it with "user change-phone".',
  );
}
