import { Option } from 'commander';
import type { UsageGroup } from '../../modules/quota/quota.repository.js';
import { addMilliseconds, DAY, floorTo } from '../../platform/clock.js';
import { type CliCommand, EXAMPLE_APP, timeRangeOf, type TimeOptions } from '../command.js';
import { parseClientId, parseTime, TIME_FORMATS, type TimeOption } from '../option-values.js';
import { csvText } from '../tables.js';

/** The groups of `usage report`, each with its member in JSON. */
const GROUPS: Readonly<Record<UsageGroup, string>> = {
  day: 'day',
  app: 'client_id',
  route: 'route',
  status: 'status',
  error: 'error_code',
};
const DEFAULT_DAYS = 30;

interface ReportOptions extends TimeOptions {
  app?: string;
  by: UsageGroup;
  csv?: boolean;
}

export function addUsageCommands(program: CliCommand): void {
  const usage = program
    .command('usage')
    .description('Count API calls, and aggregate the call log.')
    .examples(`usage report --app ${EXAMPLE_APP} --by error`, 'usage rollup');

  usage
    .command('report')
    .summary('Count API calls by day, app, route, status or error.')
    .description(
      'Count API calls by day (UTC), app, route, status or error code, also those that the call log no longer has. The counts are those of "usage rollup", so calls of the last ten minutes may be missing. --since and --until are rounded down to the start of their day. Without --app, test apps are left out. --by error counts only calls with an error code; calls before version 1.2 have none.',
    )
    .option('--app <client_id>', 'calls of this app', parseClientId)
    .addOption(
      new Option('--by <group>', 'what to group by').choices(Object.keys(GROUPS)).default('day'),
    )
    .acceptsTimes('since the day of this time', `${DEFAULT_DAYS}d`)
    .acceptsCsv()
    .printsJson('[{day?, client_id?, route?, status?, error_code?, calls}]')
    .examples(
      'usage report --by app --since 2026-11-01 --until 2026-12-01 --csv > november.csv',
      `usage report --app ${EXAMPLE_APP} --by error --since 7d`,
      'usage report --by status --since yesterday --json',
    )
    .execute(async (session, { app, by, csv = false, ...times }: ReportOptions) => {
      // Throws if the app does not exist.
      if (app !== undefined) await session.get('AppsService').get(app);
      const now = session.get('Clock').now();
      const range = timeRangeOf(times, now, DEFAULT_DAYS * DAY);
      // The end is a day: today is included without --until.
      const to = times.until ? range.to : addMilliseconds(now, DAY);
      const totals = await session.get('UsageRollup').report(by, { ...range, to }, app);
      const member = GROUPS[by];
      const json = totals.map(({ group, calls }) => ({ [member]: group, calls }));
      const rows = totals.map(({ group, calls }) => [String(group), String(calls)]);
      const header = [member.toUpperCase(), 'CALLS'];
      const text = csv
        ? await csvText(`${member}, calls`, json)
        : session.list(header, rows, 'No calls are counted.');
      return { json, text };
    });

  usage
    .command('rollup')
    .summary('Aggregate the call log by day.')
    .description(
      'Aggregate the call log by day, app, route, status and error code, and list the aggregated days. The service does this every ten minutes; you can run the command at any time. Use --from to include calls that were recorded more than a day late.',
    )
    .option(
      '--from <time>',
      `recount every day since the day of this time: ${TIME_FORMATS}`,
      parseTime,
    )
    .acceptsReason()
    .printsJson('[{day, calls}]')
    .examples('usage rollup', 'usage rollup --from 2026-11-01', 'usage rollup --json')
    .execute(async (session, options: { from?: TimeOption }) => {
      const start = options.from?.(session.get('Clock').now());
      const from = start && floorTo(start, DAY);
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
