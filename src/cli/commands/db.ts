import { Argument } from 'commander';
import type { CliCommand, Result } from '../command.js';
import { table } from '../tables.js';
import type { SchemaDifference } from '../../platform/database/migrations/migrator.js';
import { RELEASES, type Release } from '../../platform/database/migrations/releases.js';

export function addDatabaseCommands(program: CliCommand): void {
  const database = program
    .command('db')
    .description('Bring the database up to date, or back to a release.')
    .examples('db migrate', 'db status --json', 'db check');
  addMigrate(database);
  addRevert(database);
  addStatus(database);
  addCheck(database);
}

function addMigrate(database: CliCommand): void {
  database
    .command('migrate')
    .summary('Run the migrations that are pending.')
    .description('Run the migrations that are pending. Safe to run twice.')
    .audited()
    .examples('db migrate')
    .onAnySchema()
    .execute(async (session) => {
      const applied = await session.get('SchemaUpgrade').run(session.change);
      const text =
        applied.length === 0
          ? 'The database is up to date.'
          : applied.map((name) => `Applied ${name}`).join('\n');
      return { json: { applied }, text };
    });
}

function addRevert(database: CliCommand): void {
  database
    .command('revert')
    .summary('Undo the migrations that came after a release.')
    .description(
      'Undo the migrations that came after a release, newest first, so that the schema is that of the release again. The columns that they added go, with what is stored in them; everything else stays. The release itself may go on serving: end the processes of newer versions first. Safe to stop and to run again. Asks first at a terminal; scripts and --json are not asked.',
    )
    .addArgument(
      new Argument('<release>', 'the version to go back to').choices(Object.keys(RELEASES)),
    )
    .confirmed()
    .examples('db revert 1.0.0 --reason "Back to 1.0.0"')
    .onAnySchema()
    .execute(async (session, release: Release) => {
      const names = await session.get('Migrator').appliedSince(release);
      if (names.length > 0)
        await session.confirm(
          `Undo ${names.join(', ')}, and lose what is stored in the columns that it added?`,
        );
      const undone = await session.get('SchemaUpgrade').revert(release, session.change);
      const text =
        undone.length === 0
          ? `The schema has nothing that came after ${release}.`
          : undone.map((name) => `Undid ${name}`).join('\n');
      return { json: { undone }, text };
    });
}

function addStatus(database: CliCommand): void {
  database
    .command('status')
    .description('Show which migrations are applied.')
    .examples('db status', 'db status --json')
    .onAnySchema()
    .execute(async (session) => {
      const migrations = await session.get('Migrator').status();
      const current = migrations.every(({ applied }) => applied);
      const text = table(
        migrations.map(({ name, applied }) => [applied ? 'applied' : 'pending', name]),
      );
      return { json: { current, migrations }, text };
    });
}

function addCheck(database: CliCommand): void {
  database
    .command('check')
    .summary('Compare the database with what this version expects.')
    .description(
      'Compare the tables, columns and indices of the database with what this version expects, as before and after an upgrade. Changes nothing. Ends with exit code 1 when they differ.',
    )
    .examples('db check', 'db check --json')
    .onAnySchema()
    .execute(async (session) => checkResult(await session.get('Migrator').difference()));
}

function checkResult(difference: SchemaDifference): Result {
  const { pending, unknown, statements } = difference;
  const rows = [
    ...pending.map((name) => ['pending', name]),
    ...unknown.map((name) => ['unknown', name]),
    ...statements.map((statement) => ['missing', statement]),
  ];
  const failure = failureOf(difference);
  return {
    json: { current: failure === undefined, ...difference },
    text: failure === undefined ? 'The database is what this version expects.' : table(rows),
    ...(failure !== undefined && { failure }),
  };
}

function failureOf({ pending, unknown, statements }: SchemaDifference): string | undefined {
  if (pending.length > 0)
    return 'Migrations are pending. Run "npm run -s cli -- db migrate" before this version starts.';
  if (unknown.length > 0)
    return 'A newer version migrated this database; this version works on it, too. To undo those migrations, run "db revert" with the command line of the newer version.';
  if (statements.length > 0)
    return 'Somebody changed the schema by hand. The statements above, without the word in front, would make it what this version expects: read them before you run them.';
  return undefined;
}
