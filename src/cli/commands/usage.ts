import type { CliCommand } from '../command.js';
import { parseDay } from '../option-values.js';

export function addUsageCommands(program: CliCommand): void {
  program
    .command('usage')
    .description('Aggregate the call log.')
    .examples('usage rollup')
    .command('rollup')
    .summary('Aggregate the call log by day.')
    .description(
      'Aggregate the call log by day, app, route and status, and list the aggregated days. The service does this every ten minutes; you can run the command at any time. Use --from to include calls that were recorded more than a day late.',
    )
    .option('--from <day>', 'recount every day since this day, such as 2026-11-01', parseDay)
    .acceptsReason()
    .printsJson('[{day, calls}]')
    .examples('usage rollup', 'usage rollup --from 2026-11-01', 'usage rollup --json')
    .execute(async (session, { from }: { from?: Date }) => {
      const onDay = (day: string): void => session.progress(`Aggregating the calls of ${day} …`);
      const { days } = await session
        .get('ScheduledJobs')
        .runNow('usage-rollup', session.change, () =>
          session.get('UsageRollup').run({ from, onDay }),
        );
      const rows = days.map(({ day, calls }) => [day, String(calls)]);
      return {
        json: days,
        text: session.list(['DAY', 'CALLS'], rows, 'No calls to aggregate.'),
      };
    });
}
