import type { CliCommand, Result } from '../command.js';
import type { Session } from '../session.js';
import { oneOf } from '../option-values.js';
import { keyValues } from '../tables.js';
import {
  formatOf,
  FORMATS,
  openImportFile,
  type Format,
} from '../../modules/users/import/import-file.js';
import type { ImportReport, Problem } from '../../modules/users/import/user-import.service.js';

/** Bad lines in the result with `--json`, and in the note; all are counted. */
const MAX_REPORTED = 1000;
const MAX_SHOWN = 20;

export function addUserImportCommand(user: CliCommand): void {
  user
    .command('import')
    .summary('Add and update users from a file.')
    .description(
      'Add and update users from a file of any size: CSV with the header phone,name,neighborhood,photo_url,latitude,longitude, of which phone and name are required and the order is free, or one JSON object of the same names a line. A user whose phone is there already gets what the file tells otherwise; an empty value clears, and a column that the file does not have stays as it is. Bad lines are told with their numbers, and the others are imported. Safe to repeat and to stop: what was imported stays, and the next run goes on.',
    )
    .argument('<file>', 'its name ends in .csv or .ndjson; - is standard input')
    .option('--format <format>', `${FORMATS.join(' or ')}, whatever the name is`, oneOf(FORMATS))
    .option('--dry-run', 'check every line, and write nothing')
    .audited()
    .examples(
      'user import members.csv --dry-run',
      'user import members.csv --reason "Members of Riverside"',
      'user import - --format ndjson --json < members.ndjson',
    )
    .action((path: string, options: { format?: Format; dryRun?: boolean }, command: CliCommand) => {
      const { format = formatOf(path), dryRun = false } = options;
      if (format === undefined)
        return command.error(
          'error: the name of the file ends in neither .csv nor .ndjson: say --format csv or --format ndjson',
        );
      return command.start((session) => importFile(session, path, format, dryRun));
    });
}

async function importFile(
  session: Session,
  path: string,
  format: Format,
  dryRun: boolean,
): Promise<Result> {
  const { records, progress } = await openImportFile(path, format, session.context.stdin);
  const problems: Problem[] = [];
  const started = performance.now();
  const report = await session.get('UserImport').run(records, {
    change: session.change,
    dryRun,
    onProblem: (problem) => {
      if (problems.length < MAX_REPORTED) problems.push(problem);
    },
    onProgress: ({ lines }) =>
      session.progress(progressOf(lines, progress(), performance.now() - started)),
  });
  return importResult(report, problems, dryRun);
}

function progressOf(lines: number, part: number | undefined, milliseconds: number): string {
  const done = part === undefined ? '' : `${Math.floor(part * 100)} %, `;
  return `${done}${lines} lines, ${Math.round((lines / milliseconds) * 1000)} a second`;
}

function importResult(report: ImportReport, problems: Problem[], dryRun: boolean): Result {
  const { lines, added, updated, unchanged, bad } = report;
  const verb = dryRun ? 'would be ' : '';
  return {
    json: { dry_run: dryRun, lines, added, updated, unchanged, bad, errors: problems },
    text: keyValues({
      [`${verb}added`]: added,
      [`${verb}updated`]: updated,
      unchanged,
      'bad lines': bad,
    }),
    ...(bad > 0 && {
      note: noteOn(problems, bad),
      failure: `${bad} of ${lines} lines ${dryRun ? 'would not be' : 'were not'} imported. Mend them, and import the file again.`,
    }),
  };
}

function noteOn(problems: readonly Problem[], bad: number): string {
  const shown = problems.slice(0, MAX_SHOWN).map(({ line, problem }) => `line ${line}: ${problem}`);
  const others = bad - shown.length;
  if (others > 0) shown.push(`and ${others} more; --json tells up to ${MAX_REPORTED}`);
  return shown.join('\n');
}
