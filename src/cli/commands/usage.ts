import type { CliCommand } from '../command.js';
import { utcDay } from '../option-values.js';
import { list } from '../tables.js';

export function addUsageCommands(program: CliCommand): void {
  const usage = program
    .command('usage')
    .description('Add up the recorded calls.')
    .examples('usage rollup');
  usage
    .command('rollup')
    .summary('Add up the recorded calls by day.')
    .description(
      'Add up the recorded calls by day, app, route and status, and show the days that were counted. The service does it every ten minutes by itself; this works at any time, whether it does or not. Safe to run twice, late or never. A call that was recorded more than a day late counts once its day is given.',
    )
    .option('--from <day>', 'count every day from this one on, such as 2026-11-01', utcDay)
    .audited()
    .examples('usage rollup', 'usage rollup --from 2026-11-01', 'usage rollup --json')
    .execute(async (session, { from }: { from?: Date }) => {
      const { days } = await session
        .get('ScheduledJobs')
        .runNow('usage-rollup', session.change, () => session.get('UsageRollup').run({ from }));
      const rows = days.map(({ day, calls }) => [day, String(calls)]);
      return {
        json: days,
        text: days.length > 0 ? list(['DAY', 'CALLS'], rows) : 'There is no call to add up.',
      };
    });
}
