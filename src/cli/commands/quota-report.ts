import type { CliCommand } from '../command.js';
import { calendarMonth } from '../option-values.js';
import { list } from '../tables.js';
import type { ReportLine } from '../../modules/quota/months/quota-months.service.js';

const COLUMNS = [
  'client_id',
  'name',
  'plan',
  'limit',
  'used',
  'remaining',
  'percent',
  'projected',
  'period',
] as const;

export function addQuotaReportCommand(quota: CliCommand): void {
  quota
    .command('report')
    .summary('Show what every app has used of a month.')
    .description(
      'Show what every app has used and has left of a month, in percent of its limit, and what the month comes to if it goes on like this. Who used most of its limit comes first. A month that is over shows the plans and limits that apps had at its end.',
    )
    .option('--period <month>', 'such as 2026-10; the current month by default', calendarMonth)
    .option('--csv', 'print a table for a spreadsheet')
    .examples(
      'quota report',
      'quota report --period 2026-10 --csv > october.csv',
      'quota report --json',
    )
    .action(({ period, csv = false }: { period?: string; csv?: boolean }, command: CliCommand) => {
      if (csv && command.optsWithGlobals().json === true)
        return command.error('error: give either --json or --csv');
      return command.start(async (session) => {
        const apps = await session.get('AppsService').list();
        const lines = await session.get('QuotaMonths').report(apps, period);
        return { json: lines.map(jsonOf), text: csv ? await csvOf(lines) : textOf(lines) };
      });
    });
}

function jsonOf({ clientId, ...line }: ReportLine): Record<(typeof COLUMNS)[number], unknown> {
  return { client_id: clientId, ...line };
}

function textOf(lines: readonly ReportLine[]): string {
  const rows = lines.map(({ clientId, plan, limit, used, remaining, percent, projected }) => [
    clientId,
    plan,
    String(limit ?? 'none'),
    String(used),
    String(remaining ?? '-'),
    String(percent ?? '-'),
    String(projected),
  ]);
  return list(['CLIENT_ID', 'PLAN', 'LIMIT', 'USED', 'LEFT', '%', 'END'], rows);
}

/** Formulas are escaped with an apostrophe, because partners choose the names of their apps. */
async function csvOf(lines: readonly ReportLine[]): Promise<string> {
  const { stringify } = await import('csv-stringify/sync');
  return stringify(lines.map(jsonOf), {
    header: true,
    columns: [...COLUMNS],
    escape_formulas: true,
  }).trimEnd();
}
