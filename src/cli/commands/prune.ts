import type { CliCommand } from '../command.js';
import { keyValues } from '../tables.js';
import { totalOf } from '../../platform/database/retention/batches.js';

export function addPruneCommand(program: CliCommand): void {
  program
    .command('prune')
    .summary('Delete expired data.')
    .description(
      'Delete expired codes, tokens, sessions, one-time passwords and rate-limit counts, grants 90 days after they end, API calls after CALL_LOG_DAYS days, audit events after AUDIT_LOG_DAYS days, and deleted posts and comments after DELETED_POST_DAYS days. Aggregates the call log first. The service does this every hour; you can run the command at any time.',
    )
    .option('--dry-run', 'show how many rows would be deleted, but delete nothing')
    .acceptsReason()
    .examples('prune', 'prune --dry-run', 'prune --json')
    .execute(async (session, { dryRun = false }: { dryRun?: boolean }) => {
      const prune = session.get('Prune');
      const progress = (name: string, rows: number): void =>
        session.progress(`${name}: ${rows} rows`);
      const tables = dryRun
        ? await prune.preview()
        : await session
            .get('ScheduledJobs')
            .runNow('prune', session.change, () => prune.run({ onBatch: progress }));
      const total = totalOf(tables);
      return {
        json: { dry_run: dryRun, total, tables },
        text: `${dryRun ? 'Would delete' : 'Deleted'}:\n${keyValues({ ...tables, total })}`,
      };
    });
}
