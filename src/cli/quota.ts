import type { Command } from 'commander';
import type { Difference } from '../modules/quota/months/quota-reconciliation.service.js';
import type {
  EffectiveQuota,
  PlanAssignment,
  QuotaStatus,
} from '../modules/quota/quota.service.js';
import { QUOTA_RESET } from '../platform/lifecycle/job-names.js';
import { type Answer, examples, type RunCommand, type Session } from './command.js';
import { calendarMonth, monthlyLimit, textUpTo } from './option-values.js';
import { list, table } from './tables.js';

/** Tells the name of the app, or throws when there is none with this id: apps are another module's. */
export type AppName = (session: Session, clientId: string) => Promise<string>;

interface SetOptions {
  limit?: PlanAssignment;
  plan?: string;
}

/** `quota show`, `quota set` and `quota reconcile`. Answers the group, for commands that span modules. */
export function addQuotaCommands(program: Command, run: RunCommand, appName: AppName): Command {
  const quota = program
    .command('quota')
    .description('See and change how many posts an app may publish in a month.')
    .addHelpText(
      'before',
      examples(
        'quota show svc_app_01h455vb4pex5vsknk084sn02q',
        'quota set svc_app_01h455vb4pex5vsknk084sn02q --limit 500 --reason "Pilot in Riverside"',
      ),
    );
  addShow(quota, run, appName);
  addSet(quota, run, appName);
  addQuotaReconcileCommand(quota, run);
  return quota;
}

function addShow(quota: Command, run: RunCommand, appName: AppName): void {
  quota
    .command('show')
    .summary('Show plan, limit and use of this month.')
    .description("Show the app's plan and limit, and what is used and left this month (UTC).")
    .argument('<client_id>')
    .addHelpText('before', examples('quota show svc_app_01h455vb4pex5vsknk084sn02q --json'))
    .action((clientId: string, _options, command: Command) =>
      run(command, async (session) => {
        await appName(session, clientId);
        const { QuotaService } = await import('../modules/quota/quota.service.js');
        return quotaAnswer(clientId, await session.get(QuotaService).status(clientId));
      }),
    );
}

function addSet(quota: Command, run: RunCommand, appName: AppName): void {
  quota
    .command('set')
    .summary('Change the monthly limit or plan of an app.')
    .description(
      'Give the app a monthly limit of its own, or a plan. Asks first at a terminal; scripts and --json are not asked.',
    )
    .argument('<client_id>')
    .option('--limit <posts>', 'posts per month, or "unlimited", or "default"', monthlyLimit)
    .option('--plan <name>', 'a plan of QUOTA_PLANS, or "default"', textUpTo(32))
    .option('--reason <text>', 'why, for the audit log', textUpTo(500))
    .option('--yes', 'do not ask')
    .addHelpText(
      'before',
      examples(
        'quota set svc_app_01h455vb4pex5vsknk084sn02q --limit 500 --reason "Pilot in Riverside"',
        'quota set svc_app_01h455vb4pex5vsknk084sn02q --limit unlimited --yes',
        'quota set svc_app_01h455vb4pex5vsknk084sn02q --plan partner',
      ),
    )
    .action((clientId: string, options: SetOptions, command: Command) => {
      const assignment = assignmentOf(options);
      if (assignment === undefined) return command.error('error: give either --limit or --plan');
      return run(command, async (session) => {
        const name = await appName(session, clientId);
        const { QuotaService } = await import('../modules/quota/quota.service.js');
        const service = session.get(QuotaService);
        const was = quotaInWords(await service.status(clientId));
        await session.confirm(
          `Change the monthly quota of "${name}" from ${was} to ${wordsFor(assignment)}?`,
        );
        const status = await service.set(clientId, assignment, session.change);
        return { ...quotaAnswer(clientId, status), remark: `It was ${was}.` };
      });
    });
}

function assignmentOf({ limit, plan }: SetOptions): PlanAssignment | undefined {
  if ((limit === undefined) === (plan === undefined)) return undefined;
  return plan === undefined ? limit : { plan };
}

function wordsFor(assignment: PlanAssignment): string {
  return 'plan' in assignment ? `the plan "${assignment.plan}"` : limitInWords(assignment.limit);
}

function quotaInWords({ plan, limit }: EffectiveQuota): string {
  return plan === 'custom' ? limitInWords(limit) : `the plan "${plan}", ${limitInWords(limit)}`;
}

function limitInWords(limit: number | null): string {
  return limit === null ? 'no limit' : `${limit} ${limit === 1 ? 'post' : 'posts'}`;
}

function quotaAnswer(clientId: string, status: QuotaStatus): Answer {
  const { plan, limit, used, remaining, period } = status;
  const resetsAt = status.resetsAt.toISOString();
  return {
    json: { client_id: clientId, plan, limit, used, remaining, period, resets_at: resetsAt },
    text: table([
      ['client_id', clientId],
      ['plan', plan],
      ['limit', String(limit ?? 'unlimited')],
      ['used', String(used)],
      ['remaining', String(remaining ?? 'unlimited')],
      ['period', period],
      ['resets_at', resetsAt],
    ]),
  };
}

interface Options {
  period?: string;
  fix?: boolean;
}

/** `quota reconcile`. */
export function addQuotaReconcileCommand(quota: Command, run: RunCommand): void {
  quota
    .command('reconcile')
    .summary('Check the counters against the recorded calls.')
    .description(
      'Check what each app has used in a month against its recorded calls, and show who differs. Safe at any time: posts that are published meanwhile make no difference. Ends with 1 while somebody differs. --fix asks first at a terminal; scripts and --json are not asked.',
    )
    .option('--period <month>', 'such as 2026-10; the current month by default', calendarMonth)
    .option('--fix', 'set the counters to what is recorded')
    .option('--reason <text>', 'why, for the audit log', textUpTo(500))
    .option('--yes', 'do not ask')
    .addHelpText(
      'before',
      examples(
        'quota reconcile',
        'quota reconcile --period 2026-10 --fix --reason "Restored from a backup"',
      ),
    )
    .action(({ period, fix = false }: Options, command: Command) =>
      run(command, async (session) => {
        const { QuotaReconciliation } =
          await import('../modules/quota/months/quota-reconciliation.service.js');
        const reconciliation = session.get(QuotaReconciliation);
        const differences = await reconciliation.differences(period);
        if (fix && differences.length > 0) {
          await session.confirm(`Set the counters of ${apps(differences)} to what is recorded?`);
          for (const difference of differences)
            await reconciliation.fix(difference, session.change);
        }
        return answerOf(differences, fix);
      }),
    );
}

function answerOf(differences: readonly Difference[], fixed: boolean): Answer {
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
  if (fixed) return { json, text, remark: `Set the counters of ${apps(json)} to RECORDED.` };
  return {
    json,
    text,
    failure: `The counters of ${apps(json)} are not what is recorded. To set them to RECORDED, add --fix.`,
  };
}

function apps({ length }: readonly unknown[]): string {
  return length === 1 ? '1 app' : `${length} apps`;
}

/** `quota reset`. */
export function addQuotaResetCommand(quota: Command, run: RunCommand): void {
  quota
    .command('reset')
    .summary('Close the months before the current one.')
    .description(
      'Write into each earlier month under which plan and limit its apps ended it. The service does this once a month by itself. For a cron: safe to run twice, late or never, because no counter is ever reset.',
    )
    .option('--reason <text>', 'why, for the audit log', textUpTo(500))
    .addHelpText('before', examples('quota reset'))
    .action((_options, command: Command) =>
      run(command, async (session) => {
        const [{ QuotaMonths }, { resetSentence }, { ManualJobs }] = await Promise.all([
          import('../modules/quota/months/quota-months.service.js'),
          import('../modules/operations/quota-reset.cron.js'),
          import('../modules/operations/manual-jobs.service.js'),
        ]);
        const month = await session
          .get(ManualJobs)
          .run(QUOTA_RESET, session.change, () => session.get(QuotaMonths).closeEarlier());
        return { json: month, text: resetSentence(month) };
      }),
    );
}
