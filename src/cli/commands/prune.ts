import type { CliCommand } from '../command.js';
import { formatNumber, keyValues } from '../tables.js';

export function addPruneCommand(program: CliCommand): void {
  program
    .command('prune')
    .summary('Delete expired data.')
    .description(
      'Delete expired codes, tokens, sessions, one-time passwords and rate-limit counts, grants 90 days after they end, API calls after CALL_LOG_DAYS days, audit events after AUDIT_LOG_DAYS days, and deleted posts and comments after DELETED_POST_DAYS days. Aggregates the call log first. The service does this every hour; you can run the command at any time.',
    )
    .acceptsDryRun('show how many rows would be deleted, but delete nothing')
    .acceptsReason()
    .printsJson('{dry_run, total, tables: {…}}')
    .examples('prune', 'prune --dry-run', 'prune --json')
    .execute(async (session) => {
      const dryRun = session.isDryRun;
      const jobs = session.get('ScheduledJobs');
      const tables = dryRun
        ? await jobs.previewPrune((table) => session.progress(`Counting ${table} …`))
        : await jobs.runNow('prune', session.change, () =>
            session.get('Retention').run({
              onBatch: (table, rows) => session.progress(`${table}: ${formatNumber(rows, 'row')}`),
              onDay: (day) => session.progress(`Aggregating the calls of ${day} …`),
            }),
          );
      const total = Object.values(tables).reduce((sum, rows) => sum + rows, 0);
      return {
        json: { dry_run: dryRun, total, tables },
        text: `${dryRun ? 'Would delete' : 'Deleted'}:\n${keyValues({ ...tables, total })}`,
      };
    });
}
