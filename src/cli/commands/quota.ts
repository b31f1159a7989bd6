import type { ReportLine } from '../../modules/quota/months/quota-months.service.js';
import type { QuotaDiscrepancy } from '../../modules/quota/months/quota-reconciliation.service.js';
import type {
  QuotaAssignment,
  QuotaStatus,
  EffectiveQuota,
} from '../../modules/quota/quota.service.js';
import { type CliCommand, EXAMPLE_APP } from '../command.js';
import { parseMonth, parseMonthlyLimit, textUpTo } from '../option-values.js';
import { csvText, formatNumber, keyValues, membersOf } from '../tables.js';
import type { Result, Session } from '../session.js';

export const QUOTA_MEMBERS = 'plan, limit, used, remaining, period, resets_at';
const DISCREPANCY_MEMBERS = 'client_id, period, used, recorded, fixed';
const REPORT_MEMBERS =
  'client_id, name, publisher, reference, plan, limit, used, remaining, percent, projected, calls, period';

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
      `quota show ${EXAMPLE_APP}`,
      `quota set ${EXAMPLE_APP} --limit 500 --reason "Pilot in Riverside"`,
    );

  quota
    .command('show')
    .summary('Show the plan, limit and usage of an app.')
    .description('Show the plan and limit of an app and its usage this month (UTC).')
    .argument('<client_id>')
    .printsJson(`{client_id, ${QUOTA_MEMBERS}}`)
    .examples(`quota show ${EXAMPLE_APP} --json`)
    .execute(async (session, clientId: string) => {
      // Throws if the app does not exist.
      await session.get('AppsService').get(clientId);
      return quotaResult(session, clientId, await session.get('QuotaService').status(clientId));
    });

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
      `quota set ${EXAMPLE_APP} --limit 500 --reason "Pilot in Riverside"`,
      `quota set ${EXAMPLE_APP} --limit unlimited --yes`,
      `quota set ${EXAMPLE_APP} --plan partner`,
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

  quota
    .command('reconcile')
    .summary('Compare the quota counters with the call log.')
    .description(
      'Compare the quota counter of each app with the posts that the call log has of it in a month, and list the apps whose counters differ. You can run this while apps publish. Exits with 1 if a counter differs and is not fixed.',
    )
    .option('--period <month>', 'such as 2026-10 (default: current month)', parseMonth)
    .option('--fix', 'set the counters to the numbers of the call log')
    .requiresConfirmation('--fix')
    .printsJson(`[{${DISCREPANCY_MEMBERS}}]`)
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
      return reconciliationResult(session, differences, fix);
    });

  quota
    .command('report')
    .summary('Report the monthly usage of all apps.')
    .description(
      'Report how many posts each app has published in a month (USED) and how many remain, with a projection to the end of the month (END), its publisher, your reference and its API calls. Apps that used the largest share of their limit come first; test apps and apps that were registered later are not listed. Past months show the plan and limit at the end of the month, and none for an app that did not publish. A terminal of less than 140 columns does not show PLAN, LEFT, CALLS, REFERENCE and PUBLISHER; a pipe, --csv and --json have them.',
    )
    .option('--period <month>', 'such as 2026-10 (default: current month)', parseMonth)
    .acceptsCsv()
    .printsJson(`[{${REPORT_MEMBERS}}]`)
    .examples(
      'quota report',
      'quota report --period 2026-10 --csv > october.csv',
      'quota report --json',
    )
    .execute(async (session, { period, csv = false }: { period?: string; csv?: boolean }) => {
      const apps = await session.get('AppsService').list();
      const lines = await session.get('QuotaMonths').report(apps, period);
      const json = lines.map((line) => membersOf(REPORT_MEMBERS, line));
      const text = csv ? await csvText(REPORT_MEMBERS, json) : reportText(session, lines);
      return { json, text };
    });

  quota
    .command('reset')
    .summary('Record the plans and limits for past months.')
    .description(
      'For each past month that has no record yet, record the current plan and limit of each app that published, so that later changes do not alter the report of that month. This does not reset counters. The service does this every hour; you can run the command at any time.',
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
  const json = { client_id: clientId, ...membersOf(QUOTA_MEMBERS, status) };
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

function reconciliationResult(
  session: Session,
  differences: readonly QuotaDiscrepancy[],
  fixed: boolean,
): Result {
  const json = differences.map((one) => membersOf(DISCREPANCY_MEMBERS, one, { fixed }));
  const rows = differences.map(({ clientId, period, used, recorded }) =>
    [clientId, period, used, recorded].map(String),
  );
  const header = ['CLIENT_ID', 'PERIOD', 'USED', 'RECORDED'];
  const text = session.list(header, rows, 'All counters match the recorded calls.');
  if (json.length === 0) return { json, text };
  const apps = formatAppCount(json);
  if (fixed) return { json, text, note: `Set the counters of ${apps} to the recorded values.` };
  const failure = `The counters of ${apps} do not match the recorded calls. Add --fix to set them to the recorded values.`;
  return { json, text, failure };
}

function formatAppCount({ length }: readonly unknown[]): string {
  return formatNumber(length, 'app');
}

/** The name is last, because a list truncates its last column. */
const TEXT_COLUMNS: Readonly<Record<string, (line: ReportLine) => string>> = {
  CLIENT_ID: ({ clientId }) => clientId,
  PLAN: ({ plan }) => plan ?? '-',
  LIMIT: ({ plan, limit }) => String(limit ?? (plan === null ? '-' : 'none')),
  USED: ({ used }) => String(used),
  LEFT: ({ remaining }) => String(remaining ?? '-'),
  '%': ({ percent }) => String(percent ?? '-'),
  END: ({ projected }) => String(projected),
  CALLS: ({ calls }) => String(calls),
  REFERENCE: ({ reference }) => reference ?? '-',
  PUBLISHER: ({ publisher }) => publisher ?? '-',
  NAME: ({ name }) => name,
};
/** The columns that a narrow terminal has no room for. */
const WIDE_COLUMNS: readonly string[] = ['PLAN', 'LEFT', 'CALLS', 'REFERENCE', 'PUBLISHER'];
const WIDE = 140;

function reportText(session: Session, lines: readonly ReportLine[]): string {
  const columns = Object.entries(TEXT_COLUMNS).filter(
    ([name]) => session.width >= WIDE || !WIDE_COLUMNS.includes(name),
  );
  return session.list(
    columns.map(([name]) => name),
    lines.map((line) => columns.map(([, valueOf]) => valueOf(line))),
    'There are no apps.',
  );
}
