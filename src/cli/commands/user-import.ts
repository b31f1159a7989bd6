import { Option } from 'commander';
import type { CliCommand } from '../command.js';
import type { Result, Session } from '../session.js';
import { keyValues } from '../tables.js';
import {
  formatOf,
  FORMATS,
  openImportFile,
  type Format,
} from '../../modules/operations/import/import-file.js';
import { placeName } from '../../modules/operations/import/file-record.js';
import type { Problem } from '../../modules/operations/import/imported-user.js';
import type { ImportReport } from '../../modules/operations/import/user-import.service.js';

/** Maximum number of invalid lines, and of warnings, that the JSON output lists. `invalid` and `doubtful` count all of them. */
const MAX_PROBLEMS_IN_JSON = 1000;
/** Maximum number of invalid lines, and of warnings, that the note on standard error lists. */
const MAX_PROBLEMS_IN_NOTE = 20;

interface ImportOptions {
  format?: Format;
  strict?: boolean;
  reassignPhones?: boolean;
}

export function addUserImportCommand(user: CliCommand): void {
  user
    .command('import')
    .summary('Add and update users from a CSV or NDJSON file.')
    .description(
      'Add and update users from a file of any size. CSV needs a header with the columns phone and name; external_id, neighborhood, photo_url, latitude and longitude are optional. Columns are separated by commas, semicolons or tabs. NDJSON has one object with the same names per line. Users are matched by external_id, which is the id of the member in your network, else by phone and name. An empty value clears a field, but not the external_id; a missing column leaves it unchanged. Invalid lines are skipped and listed by number. Doubtful lines are imported and listed: phone numbers in no known range, fixed lines, and a last line without a line feed. If interrupted, run the command again. A changed phone number ends all access of the user. Without --reassign-phones, a line with the phone number of another person is invalid, unless another line gives that person a new number.',
    )
    .argument('<file>', 'a .csv, .tsv or .ndjson file, or - for standard input')
    .addOption(new Option('--format <format>', 'default: from the file name').choices(FORMATS))
    .acceptsDryRun('validate every line, but write nothing')
    .option(
      '--strict',
      'fail if the file may be incomplete: refuse a last line without a line feed, and a header alone; the other lines are imported',
    )
    .option(
      '--reassign-phones',
      'move a phone number to another person; ends all access of the old owner, who then has no phone number',
    )
    .requiresConfirmation('--reassign-phones')
    .printsJson(
      '{dry_run, lines, added, updated, unchanged, invalid, errors: [{line, row?, problem}], doubtful, warnings: [{line, row?, problem}]}',
    )
    .examples(
      'user import members.csv --dry-run',
      'user import members.csv --strict --reason "Members of Riverside"',
      'user import - --format ndjson --json < members.ndjson',
    )
    .action((path: string, options: ImportOptions, command: CliCommand) => {
      const { format = formatOf(path), strict = false, reassignPhones = false } = options;
      if (format === undefined)
        return command.error(
          'error: the file name must end in .csv, .tsv or .ndjson; otherwise use --format csv or --format ndjson',
        );
      return command.start((session) =>
        importFile(session, path, { format, strict, reassignPhones }),
      );
    });
}

async function importFile(
  session: Session,
  path: string,
  { format, strict, reassignPhones }: Required<ImportOptions>,
): Promise<Result> {
  const dryRun = session.isDryRun;
  const { records, progress } = await openImportFile(path, format, session.context.stdin);
  if (reassignPhones)
    await session.confirm(
      'Move phone numbers to the people in the file, and end all access of their old owners?',
    );
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const started = performance.now();
  const report = await session.get('UserImport').run(records, {
    change: session.change,
    dryRun,
    strict,
    reassignPhones,
    onProblem: (problem) => {
      if (problems.length < MAX_PROBLEMS_IN_JSON) problems.push(problem);
    },
    onWarning: (warning) => {
      if (warnings.length < MAX_PROBLEMS_IN_JSON) warnings.push(warning);
    },
    onProgress: ({ lines }) =>
      session.progress(progressOf(lines, progress(), performance.now() - started)),
  });
  // Lines that move a phone number are decided after the others.
  problems.sort((one, other) => one.line - other.line);
  return importResult(report, { dryRun, problems, warnings });
}

/** @param fraction the part of the file that was read, from 0 to 1; undefined if the size of the file is unknown */
function progressOf(lines: number, fraction: number | undefined, milliseconds: number): string {
  const done = fraction === undefined ? '' : `${Math.floor(fraction * 100)} %, `;
  return `${done}${lines} lines, ${Math.round((lines / milliseconds) * 1000)}/s`;
}

function importResult(
  report: ImportReport,
  {
    dryRun,
    problems,
    warnings,
  }: { dryRun: boolean; problems: readonly Problem[]; warnings: readonly Problem[] },
): Result {
  const { lines, added, updated, unchanged, invalid, doubtful } = report;
  const prefix = dryRun ? 'would be ' : '';
  const counts = { lines, added, updated, unchanged };
  const notes = [
    ...listed(problems, invalid),
    ...listed(warnings, doubtful).map((line) => `Warning: ${line}`),
  ];
  return {
    json: { dry_run: dryRun, ...counts, invalid, errors: problems, doubtful, warnings },
    text: keyValues({
      [`${prefix}added`]: added,
      [`${prefix}updated`]: updated,
      unchanged,
      'invalid lines': invalid,
      'doubtful lines': doubtful,
    }),
    ...(notes.length > 0 && { note: notes.join('\n') }),
    ...(invalid > 0 && {
      failure: `${invalid} of ${lines} lines ${dryRun ? 'would not be' : 'were not'} imported. Correct them and import the file again.`,
    }),
  };
}

function listed(problems: readonly Problem[], count: number): string[] {
  const shown = problems
    .slice(0, MAX_PROBLEMS_IN_NOTE)
    .map(({ problem, ...place }) => `${placeName(place)}: ${problem}`);
  const others = count - shown.length;
  if (others > 0) shown.push(`and ${others} more (--json lists up to ${MAX_PROBLEMS_IN_JSON})`);
  return shown;
}
