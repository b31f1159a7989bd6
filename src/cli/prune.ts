import type { Command } from 'commander';
import { examples, type RunCommand } from './command.js';
import { textUpTo } from './option-values.js';
import { table } from './tables.js';
import { totalOf } from '../platform/database/retention/batches.js';
import { PRUNE } from '../platform/lifecycle/job-names.js';

/** `prune`. */
export function addPruneCommand(program: Command, run: RunCommand): void {
  program
    .command('prune')
    .summary('Delete what is kept no longer.')
    .description(
      'Delete what is kept no longer: codes, tokens, sign-ins, one-time passwords, counted attempts, grants 90 days after their end, and calls, audit events, deleted posts and comments after CALL_LOG_DAYS, AUDIT_LOG_DAYS and DELETED_POST_DAYS. Calls are added up by day first. The service does it every hour by itself; this works at any time, whether it has or not, also twice at once.',
    )
    .option('--dry-run', 'delete nothing, and show how many rows would go')
    .option('--reason <text>', 'why, for the audit log', textUpTo(500))
    .addHelpText('before', examples('prune', 'prune --dry-run', 'prune --json'))
    .action(({ dryRun = false }: { dryRun?: boolean }, command: Command) =>
      run(command, async (session) => {
        const [{ Prune }, { ManualJobs }] = await Promise.all([
          import('../modules/operations/prune.service.js'),
          import('../modules/operations/manual-jobs.service.js'),
        ]);
        const prune = session.get(Prune);
        const progress = (name: string, rows: number): void =>
          session.progress(`${name}: ${rows} rows`);
        const tables = dryRun
          ? await prune.preview()
          : await session
              .get(ManualJobs)
              .run(PRUNE, session.change, () => prune.run(undefined, progress));
        const total = totalOf(tables);
        const rows = Object.entries({ ...tables, total });
        return {
          json: { dry_run: dryRun, total, tables },
          text: `${dryRun ? 'Would delete' : 'Deleted'}:\n${table(rows.map(([name, count]) => [name, String(count)]))}`,
        };
      }),
    );
}
