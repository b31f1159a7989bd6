import type { CliCommand } from '../command.js';
import { parseMonth } from '../option-values.js';
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
    .summary('Report the monthly usage of all apps.')
    .description(
      'Report how many posts each app has published in a month and how many remain, with a projection to the end of the month (END). Apps that used the largest share of their limit come first. Past months show the plan and limit at the end of the month.',
    )
    .option('--period <month>', 'such as 2026-10 (default: current month)', parseMonth)
    .option('--csv', 'print CSV')
    .examples(
      'quota report',
      'quota report --period 2026-10 --csv > october.csv',
      'quota report --json',
    )
    .action(({ period, csv = false }: { period?: string; csv?: boolean }, command: CliCommand) => {
      if (csv && command.optsWithGlobals().json === true)
        return command.error('error: use either --json or --csv');
      return command.start(async (session) => {
        const apps = await session.get('AppsService').list();
        const lines = await session.get('QuotaMonths').report(apps, period);
        return {
          json: lines.map(jsonOf),
          text: csv ? await csvOf(lines) : textOf(lines, session.width),
        };
      });
    });
}

function jsonOf({ clientId, ...line }: ReportLine): Record<(typeof COLUMNS)[number], unknown> {
  return { client_id: clientId, ...line };
}

function textOf(lines: readonly ReportLine[], width: number): string {
  const rows = lines.map(({ clientId, plan, limit, used, remaining, percent, projected }) => [
    clientId,
    plan,
    String(limit ?? 'none'),
    String(used),
    String(remaining ?? '-'),
    String(percent ?? '-'),
    String(projected),
  ]);
  return list(['CLIENT_ID', 'PLAN', 'LIMIT', 'USED', 'LEFT', '%', 'END'], rows, width);
}

/** Escapes formulas (CSV injection), because partners choose the names of their apps. */
async function csvOf(lines: readonly ReportLine[]): Promise<string> {
  const { stringify } = await import('csv-stringify/sync');
  return stringify(lines.map(jsonOf), {
    header: true,
    columns: [...COLUMNS],
    escape_formulas: true,
  }).trimEnd();
}
