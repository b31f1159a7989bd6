import { Argument } from 'commander';
import type { CliCommand } from '../command.js';
import { formatNumber, table } from '../tables.js';
import type { SchemaDifference } from '../../platform/database/migrations/migrator.js';
import { RELEASES, type Release } from '../../platform/database/migrations/releases.js';
import type { Result } from '../session.js';

export function addDatabaseCommands(program: CliCommand): void {
  const database = program
    .command('db')
    .description('Migrate, revert and check the database schema.')
    .examples('db migrate', 'db status --json', 'db check');

  database
    .command('migrate')
    .summary('Run pending migrations.')
    .description(
      'Run pending migrations. Creates the file of a SQLite database if necessary. You can run this command again at any time.',
    )
    .acceptsReason()
    .printsJson('{applied}')
    .examples('db migrate')
    .runsWith('new database')
    .execute(async (session) => {
      const migrations = await session.get('Migrator').status();
      const pending = migrations.filter(({ applied }) => !applied).length;
      if (pending > 0) session.progress(`Running ${formatNumber(pending, 'migration')} …`);
      const applied = await session.get('AuditedMigrator').run(session.change);
      const lines = applied.map((name) => `Applied ${name}`);
      return { json: { applied }, text: lines.join('\n') || 'The database is up to date.' };
    });

  database
    .command('revert')
    .summary('Revert the schema to an earlier release.')
    .description(
      'Revert the migrations that were added after a release, newest first. This drops the columns that they added, including their data. Stop the processes of newer versions first; processes of that release can keep running. If interrupted, run the command again.',
    )
    .addArgument(new Argument('<release>', 'version to revert to').choices(Object.keys(RELEASES)))
    .acceptsDryRun('list the migrations, but revert nothing')
    .requiresConfirmation()
    .printsJson('{dry_run, migrations}')
    .examples('db revert 1.0.0 --dry-run', 'db revert 1.0.0 --reason "Back to 1.0.0"')
    .runsWith('any schema')
    .execute(async (session, release: Release) => {
      const names = await session.get('Migrator').appliedSince(release);
      if (names.length > 0)
        await session.confirm(
          `Revert ${names.join(', ')} and delete the data in the columns that were added?`,
        );
      const dryRun = session.isDryRun;
      if (!dryRun) session.progress(`Reverting to ${release} …`);
      const migrations = dryRun
        ? names
        : await session.get('AuditedMigrator').revert(release, session.change);
      const lines = migrations.map((name) => `${dryRun ? 'Would revert' : 'Reverted'} ${name}`);
      const text = lines.join('\n') || `No migrations to revert: the schema is that of ${release}.`;
      return { json: { dry_run: dryRun, migrations }, text };
    });

  database
    .command('status')
    .description('Show applied and pending migrations.')
    .printsJson('{current, migrations: [{name, applied}]}')
    .examples('db status', 'db status --json')
    .runsWith('any schema')
    .execute(async (session) => {
      const migrations = await session.get('Migrator').status();
      const current = migrations.every(({ applied }) => applied);
      const text = table(
        migrations.map(({ name, applied }) => [applied ? 'applied' : 'pending', name]),
      );
      return { json: { current, migrations }, text };
    });

  database
    .command('check')
    .summary('Compare the schema with what this version expects.')
    .description(
      'Compare the tables, columns and indexes with what this version expects, without changing anything. Run it before and after an upgrade. Exits with 1 if they differ.',
    )
    .printsJson('{current, pending, unknown, statements}')
    .examples('db check', 'db check --json')
    .runsWith('any schema')
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
    text: failure === undefined ? 'The schema matches this version.' : table(rows),
    ...(failure !== undefined && { failure }),
  };
}

function failureOf({ pending, unknown, statements }: SchemaDifference): string | undefined {
  if (pending.length > 0)
    return 'The database has pending migrations. Run "devplatform db migrate" before you start this version.';
  if (unknown.length > 0)
    return 'A newer version has migrated this database; this version can use it. To revert those migrations, run "db revert" of the newer version.';
  if (statements.length > 0)
    return 'The schema was changed outside of migrations. Review the statements marked "missing" above and run them to restore it.';
  return undefined;
}
