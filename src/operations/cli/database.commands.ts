import type { Command } from 'commander';
import { examples, table, type RunCommand } from '../../command-line/command.js';

/** `db migrate` and `db status`: they work on any database, an empty one included. */
export function addDatabaseCommands(program: Command, run: RunCommand): void {
  const database = program
    .command('db')
    .description('Bring the database up to date.')
    .addHelpText('before', examples('db migrate', 'db status --json'));

  database
    .command('migrate')
    .description('Run the migrations that are pending. Safe to run twice.')
    .addHelpText('before', examples('db migrate'))
    .action((_options, command: Command) =>
      run(
        command,
        async (session) => {
          const { Migrator } = await import('../../database/migrator.js');
          const applied = await session.get(Migrator).migrate();
          const text =
            applied.length === 0
              ? 'The database is up to date.'
              : applied.map((name) => `Applied ${name}`).join('\n');
          return { json: { applied }, text };
        },
        { onAnySchema: true },
      ),
    );

  database
    .command('status')
    .description('Show which migrations are applied.')
    .addHelpText('before', examples('db status', 'db status --json'))
    .action((_options, command: Command) =>
      run(
        command,
        async (session) => {
          const { Migrator } = await import('../../database/migrator.js');
          const migrations = await session.get(Migrator).status();
          const current = migrations.every(({ applied }) => applied);
          const text = table(
            migrations.map(({ name, applied }) => [applied ? 'applied' : 'pending', name]),
          );
          return { json: { current, migrations }, text };
        },
        { onAnySchema: true },
      ),
    );
}
