import { Option } from 'commander';
import type { CliCommand, Result } from '../command.js';
import type { Session } from '../session.js';
import { keyValues } from '../tables.js';
import {
  formatOf,
  FORMATS,
  openImportFile,
  type Format,
} from '../../modules/operations/import/import-file.js';
import type { Problem } from '../../modules/operations/import/imported-user.js';
import type { ImportReport } from '../../modules/operations/import/user-import.service.js';

/** Maximum number of invalid lines that the JSON output lists. Its field `invalid` counts all of them. */
const MAX_PROBLEMS_IN_JSON = 1000;
/** Maximum number of invalid lines that the note on standard error lists. */
const MAX_PROBLEMS_IN_NOTE = 20;

interface ImportOptions {
  format?: Format;
  reassignPhones?: boolean;
}

export function addUserImportCommand(user: CliCommand): void {
  user
    .command('import')
    .summary('Add and update users from a CSV or NDJSON file.')
    .description(
      'Add and update users from a file of any size. CSV needs a header with the columns phone and name; external_id, neighborhood, photo_url, latitude and longitude are optional. NDJSON has one object with the same names per line. Users are matched by external_id, which is the id of the member in your network, else by phone and name. An empty value clears a field, but not the external_id; a missing column leaves it unchanged. Invalid lines are skipped and listed by number. If interrupted, run the command again. A changed phone number ends all access of the user. Without --reassign-phones, a line with the phone number of another person is invalid.',
    )
    .argument('<file>', 'a .csv or .ndjson file, or - for standard input')
    .addOption(new Option('--format <format>', 'default: from the file name').choices(FORMATS))
    .acceptsDryRun('validate every line, but write nothing')
    .option(
      '--reassign-phones',
      'move a phone number to another person; ends all access of the old owner, who then has no phone number',
    )
    .requiresConfirmation('--reassign-phones')
    .printsJson('{dry_run, lines, added, updated, unchanged, invalid, errors: [{line, problem}]}')
    .examples(
      'user import members.csv --dry-run',
      'user import members.csv --reason "Members of Riverside"',
      'user import - --format ndjson --json < members.ndjson',
    )
    .action((path: string, options: ImportOptions, command: CliCommand) => {
      const { format = formatOf(path), reassignPhones = false } = options;
      if (format === undefined)
        return command.error(
          'error: the file name must end in .csv or .ndjson; otherwise use --format csv or --format ndjson',
        );
      return command.start((session) => importFile(session, path, { format, reassignPhones }));
    });
}

async function importFile(
  session: Session,
  path: string,
  { format, reassignPhones }: Required<ImportOptions>,
): Promise<Result> {
  const dryRun = session.isDryRun;
  const { records, progress } = await openImportFile(path, format, session.context.stdin);
  if (reassignPhones)
    await session.confirm(
      'Move phone numbers to the people in the file, and end all access of their old owners?',
    );
  const problems: Problem[] = [];
  const started = performance.now();
  const report = await session.get('UserImport').run(records, {
    change: session.change,
    dryRun,
    reassignPhones,
    onProblem: (problem) => {
      if (problems.length < MAX_PROBLEMS_IN_JSON) problems.push(problem);
    },
    onProgress: ({ lines }) =>
      session.progress(progressOf(lines, progress(), performance.now() - started)),
  });
  return importResult(report, problems, { dryRun });
}

/** @param fraction the part of the file that was read, from 0 to 1; undefined if the size of the file is unknown */
function progressOf(lines: number, fraction: number | undefined, milliseconds: number): string {
  const done = fraction === undefined ? '' : `${Math.floor(fraction * 100)} %, `;
  return `${done}${lines} lines, ${Math.round((lines / milliseconds) * 1000)}/s`;
}

function importResult(
  report: ImportReport,
  problems: Problem[],
  { dryRun }: { dryRun: boolean },
): Result {
  const { lines, added, updated, unchanged, invalid } = report;
  const prefix = dryRun ? 'would be ' : '';
  return {
    json: { dry_run: dryRun, lines, added, updated, unchanged, invalid, errors: problems },
    text: keyValues({
      [`${prefix}added`]: added,
      [`${prefix}updated`]: updated,
      unchanged,
      'invalid lines': invalid,
    }),
    ...(invalid > 0 && {
      note: problemsNote(problems, invalid),
      failure: `${invalid} of ${lines} lines ${dryRun ? 'would not be' : 'were not'} imported. Correct them and import the file again.`,
    }),
  };
}

function problemsNote(problems: readonly Problem[], invalid: number): string {
  const shown = problems
    .slice(0, MAX_PROBLEMS_IN_NOTE)
    .map(({ line, problem }) => `line ${line}: ${problem}`);
  const others = invalid - shown.length;
  if (others > 0) shown.push(`and ${others} more (--json lists up to ${MAX_PROBLEMS_IN_JSON})`);
  return shown.join('\n');
}
