import type { QuotaDiscrepancy } from '../../modules/quota/months/quota-reconciliation.service.js';
import type {
  QuotaAssignment,
  QuotaStatus,
  EffectiveQuota,
} from '../../modules/quota/quota.service.js';
import type { CliCommand, Result } from '../command.js';
import { addQuotaReportCommand } from './quota-report.js';
import { parseMonth, parseMonthlyLimit, textUpTo } from '../option-values.js';
import { formatNumber, keyValues, list } from '../tables.js';
import type { Session } from '../session.js';

interface SetOptions {
  /** The parsed `--limit`: a custom limit, or the default plan. */
  limit?: QuotaAssignment;
  plan?: string;
}

export function addQuotaCommands(program: CliCommand): void {
  const quota = program
    .command('quota')
    .description('Show and change how many posts an app may publish per month.')
    .examples(
      'quota show svc_app_01h455vb4pex5vsknk084sn02q',
      'quota set svc_app_01h455vb4pex5vsknk084sn02q --limit 500 --reason "Pilot in Riverside"',
    );
  addShow(quota);
  addSet(quota);
  addReconcile(quota);
  addQuotaReportCommand(quota);
  addReset(quota);
}

function addShow(quota: CliCommand): void {
  quota
    .command('show')
    .summary('Show the plan, limit and usage of an app.')
    .description('Show the plan and limit of an app and its usage this month (UTC).')
    .argument('<client_id>')
    .printsJson(`{client_id, ${QUOTA_MEMBERS}}`)
    .examples('quota show svc_app_01h455vb4pex5vsknk084sn02q --json')
    .execute(async (session, clientId: string) => {
      // Throws if the app does not exist.
      await session.get('AppsService').get(clientId);
      return quotaResult(session, clientId, await session.get('QuotaService').status(clientId));
    });
}

function addSet(quota: CliCommand): void {
  quota
    .command('set')
    .summary('Set the monthly limit or plan of an app.')
    .description('Assign a plan to an app, or a custom monthly limit.')
    .argument('<client_id>')
    .option('--limit <posts>', 'posts per month, "unlimited" or "default"', parseMonthlyLimit)
    .option('--plan <name>', 'a plan in QUOTA_PLANS, or "default"', textUpTo(32))
    .requiresConfirmation()
    .printsJson(`{client_id, ${QUOTA_MEMBERS}}`)
    .examples(
      'quota set svc_app_01h455vb4pex5vsknk084sn02q --limit 500 --reason "Pilot in Riverside"',
      'quota set svc_app_01h455vb4pex5vsknk084sn02q --limit unlimited --yes',
      'quota set svc_app_01h455vb4pex5vsknk084sn02q --plan partner',
    )
    .action((clientId: string, options: SetOptions, command: CliCommand) => {
      const assignment = assignmentOf(options);
      if (assignment === undefined) return command.error('error: use either --limit or --plan');
      return command.start(async (session) => {
        const { name } = await session.get('AppsService').get(clientId);
        const service = session.get('QuotaService');
        const previous = formatQuota(await service.status(clientId));
        await session.confirm(
          `Change the monthly quota of "${name}" from ${previous} to ${formatAssignment(assignment)}?`,
        );
        const status = await service.set(clientId, assignment, session.change);
        return { ...quotaResult(session, clientId, status), note: `Previously: ${previous}.` };
      });
    });
}

function assignmentOf({ limit, plan }: SetOptions): QuotaAssignment | undefined {
  if ((limit === undefined) === (plan === undefined)) return undefined;
  return plan === undefined ? limit : { plan };
}

function formatAssignment(assignment: QuotaAssignment): string {
  return 'plan' in assignment ? `the plan "${assignment.plan}"` : formatLimit(assignment.limit);
}

function formatQuota({ plan, limit }: EffectiveQuota): string {
  return plan === 'custom' ? formatLimit(limit) : `the plan "${plan}", ${formatLimit(limit)}`;
}

function formatLimit(limit: number | null): string {
  return limit === null ? 'no limit' : formatNumber(limit, 'post');
}

function quotaResult(session: Session, clientId: string, status: QuotaStatus): Result {
  const json = { client_id: clientId, ...quotaJson(status) };
  const { limit, remaining, resetsAt } = status;
  return {
    json,
    text: keyValues({
      ...json,
      limit: limit ?? 'unlimited',
      remaining: remaining ?? 'unlimited',
      resets_at: session.time(resetsAt),
    }),
  };
}

export const QUOTA_MEMBERS = 'plan, limit, used, remaining, period, resets_at';

export function quotaJson({ plan, limit, used, remaining, period, resetsAt }: QuotaStatus): object {
  return { plan, limit, used, remaining, period, resets_at: resetsAt.toISOString() };
}

function addReconcile(quota: CliCommand): void {
  quota
    .command('reconcile')
    .summary('Compare the quota counters with the call log.')
    .description(
      'Compare the quota counter of each app with its recorded calls in a month, and list the apps whose counters differ. You can run this while apps publish. Exits with 1 if a counter differs and is not fixed.',
    )
    .option('--period <month>', 'such as 2026-10 (default: current month)', parseMonth)
    .option('--fix', 'set the counters to the recorded values')
    .requiresConfirmation('--fix')
    .printsJson('[{client_id, period, used, recorded, fixed}]')
    .examples(
      'quota reconcile',
      'quota reconcile --period 2026-10 --fix --reason "Restored from a backup"',
    )
    .execute(async (session, { period, fix = false }: { period?: string; fix?: boolean }) => {
      const reconciliation = session.get('QuotaReconciliation');
      const differences = await reconciliation.discrepancies(period, (hour) =>
        session.progress(
          `Counting the calls of ${hour.toISOString().slice(0, 'yyyy-mm-ddThh'.length)}h …`,
        ),
      );
      if (fix && differences.length > 0) {
        await session.confirm(
          `Set the counters of ${formatAppCount(differences)} to the recorded values?`,
        );
        for (const difference of differences) await reconciliation.fix(difference, session.change);
      }
      return reconciliationResult(differences, { fixed: fix, width: session.width });
    });
}

function reconciliationResult(
  differences: readonly QuotaDiscrepancy[],
  { fixed, width }: { fixed: boolean; width: number },
): Result {
  const json = differences.map(({ clientId, period, used, recorded }) => ({
    client_id: clientId,
    period,
    used,
    recorded,
    fixed,
  }));
  const rows = json.map((row) => [row.client_id, row.period, `${row.used}`, `${row.recorded}`]);
  const none = 'All counters match the recorded calls.';
  const text = list(['CLIENT_ID', 'PERIOD', 'USED', 'RECORDED'], rows, { width, none });
  if (json.length === 0) return { json, text };
  if (fixed)
    return {
      json,
      text,
      note: `Set the counters of ${formatAppCount(json)} to the recorded values.`,
    };
  return {
    json,
    text,
    failure: `The counters of ${formatAppCount(json)} do not match the recorded calls. Add --fix to set them to the recorded values.`,
  };
}

function formatAppCount({ length }: readonly unknown[]): string {
  return formatNumber(length, 'app');
}

function addReset(quota: CliCommand): void {
  quota
    .command('reset')
    .summary('Record the plans and limits for past months.')
    .description(
      'For each past month that has no record yet, record the current plan and limit of each app that published, so that later changes do not alter the report of that month. This does not reset counters. The service does this once a month; you can run the command at any time.',
    )
    .acceptsReason()
    .printsJson('{period, closed, previous: {period, apps, posts}}')
    .examples('quota reset')
    .execute(async (session) => {
      const { resetMessage } = await import('../../modules/operations/scheduled-jobs.service.js');
      const closedMonths = await session
        .get('ScheduledJobs')
        .runNow('quota-reset', session.change, () => session.get('QuotaMonths').closeEarlier());
      return { json: closedMonths, text: resetMessage(closedMonths) };
    });
}
