import type { Command } from 'commander';
import { examples, type Answer, type RunCommand } from '../../../command-line/command.js';
import { calendarMonth, textUpTo } from '../../../command-line/option-values.js';
import { list } from '../../../command-line/tables.js';
import type { Difference } from './quota-reconciliation.service.js';

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
        const { QuotaReconciliation } = await import('./quota-reconciliation.service.js');
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
