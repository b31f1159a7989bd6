import type { Command } from 'commander';
import { examples, type RunCommand } from './command.js';
import { textUpTo, utcDay } from './option-values.js';
import { list } from './tables.js';
import { USAGE_ROLLUP } from '../platform/lifecycle/job-names.js';

/** `usage rollup`. */
export function addUsageCommands(program: Command, run: RunCommand): void {
  const usage = program
    .command('usage')
    .description('Add up the recorded calls.')
    .addHelpText('before', examples('usage rollup'));
  usage
    .command('rollup')
    .summary('Add up the recorded calls by day.')
    .description(
      'Add up the recorded calls by day, app, route and status, and show the days that were counted. The service does it every ten minutes by itself; this works at any time, whether it does or not. Safe to run twice, late or never. A call that was recorded more than a day late counts once its day is given.',
    )
    .option('--from <day>', 'count every day from this one on, such as 2026-11-01', utcDay)
    .option('--reason <text>', 'why, for the audit log', textUpTo(500))
    .addHelpText(
      'before',
      examples('usage rollup', 'usage rollup --from 2026-11-01', 'usage rollup --json'),
    )
    .action(({ from }: { from?: Date }, command: Command) =>
      run(command, async (session) => {
        const [{ UsageRollup }, { ManualJobs }] = await Promise.all([
          import('../modules/quota/calls/usage-rollup.service.js'),
          import('../modules/operations/manual-jobs.service.js'),
        ]);
        const { days } = await session
          .get(ManualJobs)
          .run(USAGE_ROLLUP, session.change, () => session.get(UsageRollup).run({ from }));
        const rows = days.map(({ day, calls }) => [day, String(calls)]);
        return {
          json: days,
          text: days.length > 0 ? list(['DAY', 'CALLS'], rows) : 'There is no call to add up.',
        };
      }),
    );
}
