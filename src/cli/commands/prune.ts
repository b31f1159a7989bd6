import type { CliCommand } from '../command.js';
import { keyValues } from '../tables.js';
import { totalOf } from '../../platform/database/retention/batches.js';

export function addPruneCommand(program: CliCommand): void {
  program
    .command('prune')
    .summary('Delete what is kept no longer.')
    .description(
      'Delete what is kept no longer: codes, tokens, sign-ins, one-time passwords, counted attempts, grants 90 days after their end, and calls, audit events, deleted posts and comments after CALL_LOG_DAYS, AUDIT_LOG_DAYS and DELETED_POST_DAYS. Calls are added up by day first. The service does it every hour by itself; this works at any time, whether it has or not, also twice at once.',
    )
    .option('--dry-run', 'delete nothing, and show how many rows would go')
    .audited()
    .examples('prune', 'prune --dry-run', 'prune --json')
    .execute(async (session, { dryRun = false }: { dryRun?: boolean }) => {
      const prune = session.get('Prune');
      const progress = (name: string, rows: number): void =>
        session.progress(`${name}: ${rows} rows`);
      const tables = dryRun
        ? await prune.preview()
        : await session
            .get('ScheduledJobs')
            .runNow('prune', session.change, () => prune.run(undefined, progress));
      const total = totalOf(tables);
      return {
        json: { dry_run: dryRun, total, tables },
        text: `${dryRun ? 'Would delete' : 'Deleted'}:\n${keyValues({ ...tables, total })}`,
      };
    });
}
