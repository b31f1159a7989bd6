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
      'Report how many posts each app has published in a month and how many remain, with a projection to the end of the month (END). Apps that used the largest share of their limit come first. Past months show the plan and limit at the end of the month. PLAN and LEFT need a terminal of at least 100 columns.',
    )
    .option('--period <month>', 'such as 2026-10 (default: current month)', parseMonth)
    .option('--csv', 'print CSV')
    .printsJson(`[{${COLUMNS.join(', ')}}]`)
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

/** The name is last, because a list truncates its last column. */
const TEXT_COLUMNS: Readonly<Record<string, (line: ReportLine) => string>> = {
  CLIENT_ID: ({ clientId }) => clientId,
  PLAN: ({ plan }) => plan,
  LIMIT: ({ limit }) => String(limit ?? 'none'),
  USED: ({ used }) => String(used),
  LEFT: ({ remaining }) => String(remaining ?? '-'),
  '%': ({ percent }) => String(percent ?? '-'),
  END: ({ projected }) => String(projected),
  NAME: ({ name }) => name,
};
/** The columns that a narrow terminal has no room for. */
const WIDE_COLUMNS: readonly string[] = ['PLAN', 'LEFT'];
const WIDE = 100;

function textOf(lines: readonly ReportLine[], width: number): string {
  const columns = Object.entries(TEXT_COLUMNS).filter(
    ([name]) => width >= WIDE || !WIDE_COLUMNS.includes(name),
  );
  return list(
    columns.map(([name]) => name),
    lines.map((line) => columns.map(([, valueOf]) => valueOf(line))),
    { width, none: 'There are no apps.' },
  );
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
