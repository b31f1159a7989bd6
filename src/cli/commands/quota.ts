import type { QuotaDiscrepancy } from '../../modules/quota/months/quota-reconciliation.service.js';
import type {
  PlanAssignment,
  QuotaStatus,
  EffectiveQuota,
} from '../../modules/quota/quota.service.js';
import type { CliCommand, Result } from '../command.js';
import { addQuotaReportCommand } from './quota-report.js';
import { calendarMonth, monthlyLimit, textUpTo } from '../option-values.js';
import { keyValues, list } from '../tables.js';

interface SetOptions {
  limit?: PlanAssignment;
  plan?: string;
}

export function addQuotaCommands(program: CliCommand): void {
  const quota = program
    .command('quota')
    .description('See and change how many posts an app may publish in a month.')
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
    .summary('Show plan, limit and use of this month.')
    .description("Show the app's plan and limit, and what is used and left this month (UTC).")
    .argument('<client_id>')
    .examples('quota show svc_app_01h455vb4pex5vsknk084sn02q --json')
    .execute(async (session, clientId: string) => {
      await session.get('AppsService').show(clientId);
      return quotaResult(clientId, await session.get('QuotaService').status(clientId));
    });
}

function addSet(quota: CliCommand): void {
  quota
    .command('set')
    .summary('Change the monthly limit or plan of an app.')
    .description(
      'Give the app a monthly limit of its own, or a plan. Asks first at a terminal; scripts and --json are not asked.',
    )
    .argument('<client_id>')
    .option('--limit <posts>', 'posts per month, or "unlimited", or "default"', monthlyLimit)
    .option('--plan <name>', 'a plan of QUOTA_PLANS, or "default"', textUpTo(32))
    .confirmed()
    .examples(
      'quota set svc_app_01h455vb4pex5vsknk084sn02q --limit 500 --reason "Pilot in Riverside"',
      'quota set svc_app_01h455vb4pex5vsknk084sn02q --limit unlimited --yes',
      'quota set svc_app_01h455vb4pex5vsknk084sn02q --plan partner',
    )
    .action((clientId: string, options: SetOptions, command: CliCommand) => {
      const assignment = assignmentOf(options);
      if (assignment === undefined) return command.error('error: give either --limit or --plan');
      return command.start(async (session) => {
        const { name } = await session.get('AppsService').show(clientId);
        const service = session.get('QuotaService');
        const was = quotaInWords(await service.status(clientId));
        await session.confirm(
          `Change the monthly quota of "${name}" from ${was} to ${assignmentInWords(assignment)}?`,
        );
        const status = await service.set(clientId, assignment, session.change);
        return { ...quotaResult(clientId, status), note: `It was ${was}.` };
      });
    });
}

function assignmentOf({ limit, plan }: SetOptions): PlanAssignment | undefined {
  if ((limit === undefined) === (plan === undefined)) return undefined;
  return plan === undefined ? limit : { plan };
}

function assignmentInWords(assignment: PlanAssignment): string {
  return 'plan' in assignment ? `the plan "${assignment.plan}"` : limitInWords(assignment.limit);
}

function quotaInWords({ plan, limit }: EffectiveQuota): string {
  return plan === 'custom' ? limitInWords(limit) : `the plan "${plan}", ${limitInWords(limit)}`;
}

function limitInWords(limit: number | null): string {
  return limit === null ? 'no limit' : `${limit} ${limit === 1 ? 'post' : 'posts'}`;
}

function quotaResult(clientId: string, status: QuotaStatus): Result {
  const { plan, limit, used, remaining, period } = status;
  const resetsAt = status.resetsAt.toISOString();
  return {
    json: { client_id: clientId, plan, limit, used, remaining, period, resets_at: resetsAt },
    text: keyValues({
      client_id: clientId,
      plan,
      limit: limit ?? 'unlimited',
      used,
      remaining: remaining ?? 'unlimited',
      period,
      resets_at: resetsAt,
    }),
  };
}

function addReconcile(quota: CliCommand): void {
  quota
    .command('reconcile')
    .summary('Check the counters against the recorded calls.')
    .description(
      'Check what each app has used in a month against its recorded calls, and show who differs. Safe at any time: posts that are published meanwhile make no difference. Ends with 1 while somebody differs. --fix asks first at a terminal; scripts and --json are not asked.',
    )
    .option('--period <month>', 'such as 2026-10; the current month by default', calendarMonth)
    .option('--fix', 'set the counters to what is recorded')
    .confirmed()
    .examples(
      'quota reconcile',
      'quota reconcile --period 2026-10 --fix --reason "Restored from a backup"',
    )
    .execute(async (session, { period, fix = false }: { period?: string; fix?: boolean }) => {
      const reconciliation = session.get('QuotaReconciliation');
      const differences = await reconciliation.discrepancies(period);
      if (fix && differences.length > 0) {
        await session.confirm(`Set the counters of ${apps(differences)} to what is recorded?`);
        for (const difference of differences) await reconciliation.fix(difference, session.change);
      }
      return reconciliationResult(differences, fix);
    });
}

function reconciliationResult(differences: readonly QuotaDiscrepancy[], fixed: boolean): Result {
  const json = differences.map(({ clientId, period, used, recorded }) => ({
    client_id: clientId,
    period,
    used,
    recorded,
    fixed,
  }));
  if (json.length === 0) return { json, text: 'Every counter is what is recorded.' };
  const rows = json.map((row) => [row.client_id, row.period, `${row.used}`, `${row.recorded}`]);
  const text = list(['CLIENT_ID', 'PERIOD', 'USED', 'RECORDED'], rows);
  if (fixed) return { json, text, note: `Set the counters of ${apps(json)} to RECORDED.` };
  return {
    json,
    text,
    failure: `The counters of ${apps(json)} are not what is recorded. To set them to RECORDED, add --fix.`,
  };
}

function apps({ length }: readonly unknown[]): string {
  return length === 1 ? '1 app' : `${length} apps`;
}

function addReset(quota: CliCommand): void {
  quota
    .command('reset')
    .summary('Close the months before the current one.')
    .description(
      'Write into each earlier month under which plan and limit its apps ended it. The service does this once a month by itself. For a cron: safe to run twice, late or never, because no counter is ever reset.',
    )
    .audited()
    .examples('quota reset')
    .execute(async (session) => {
      const { resetMessage } = await import('../../modules/operations/scheduled-jobs.service.js');
      const month = await session
        .get('ScheduledJobs')
        .runNow('quota-reset', session.change, () => session.get('QuotaMonths').closeEarlier());
      return { json: month, text: resetMessage(month) };
    });
}
