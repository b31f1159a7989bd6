import type { Command } from 'commander';
import {
  examples,
  type Answer,
  type RunCommand,
  type Session,
} from '../../command-line/command.js';
import { monthlyLimit, textUpTo } from '../../command-line/option-values.js';
import { table } from '../../command-line/tables.js';
import { addQuotaReconcileCommand } from './months/quota-reconcile.commands.js';
import type { Arrangement, QuotaStatus, Terms } from './quota.service.js';

/** Tells the name of the app, or throws when there is none with this id: apps are another module's. */
export type AppName = (session: Session, clientId: string) => Promise<string>;

interface SetOptions {
  limit?: Arrangement;
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
        const { QuotaService } = await import('./quota.service.js');
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
      const arrangement = arrangementOf(options);
      if (arrangement === undefined) return command.error('error: give either --limit or --plan');
      return run(command, async (session) => {
        const name = await appName(session, clientId);
        const { QuotaService } = await import('./quota.service.js');
        const service = session.get(QuotaService);
        const was = termsInWords(await service.status(clientId));
        await session.confirm(
          `Change the monthly quota of "${name}" from ${was} to ${wordsFor(arrangement)}?`,
        );
        const status = await service.set(clientId, arrangement, session.change);
        return { ...quotaAnswer(clientId, status), remark: `It was ${was}.` };
      });
    });
}

function arrangementOf({ limit, plan }: SetOptions): Arrangement | undefined {
  if ((limit === undefined) === (plan === undefined)) return undefined;
  return plan === undefined ? limit : { plan };
}

function wordsFor(arrangement: Arrangement): string {
  return 'plan' in arrangement ? `the plan "${arrangement.plan}"` : limitInWords(arrangement.limit);
}

function termsInWords({ plan, limit }: Terms): string {
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
