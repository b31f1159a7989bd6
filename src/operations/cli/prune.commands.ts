import type { Command } from 'commander';
import { examples, table, type RunCommand } from '../../command-line/command.js';

/** `prune`. */
export function addPruneCommand(program: Command, run: RunCommand): void {
  program
    .command('prune')
    .description(
      'Delete what has expired: codes, tokens, sign-ins, one-time passwords, counted attempts, and grants 90 days after their end. The service does it every hour by itself. Safe to run at any time, also twice at once.',
    )
    .option('--dry-run', 'delete nothing, and show how many rows would go')
    .addHelpText('before', examples('prune', 'prune --dry-run', 'prune --json'))
    .action(({ dryRun = false }: { dryRun?: boolean }, command: Command) =>
      run(command, async (session) => {
        const { Prune, totalOf } = await import('../jobs/prune.service.js');
        const prune = session.get(Prune);
        const tables = dryRun ? await prune.preview() : await prune.run();
        const total = totalOf(tables);
        const rows = Object.entries({ ...tables, total });
        return {
          json: { dry_run: dryRun, total, tables },
          text: `${dryRun ? 'Would delete' : 'Deleted'}:\n${table(rows.map(([name, count]) => [name, String(count)]))}`,
        };
      }),
    );
}
