import { type CliCommand, EXAMPLE_TEST_APP } from '../command.js';
import { formatNumber, keyValues } from '../tables.js';

const RESET = `app reset ${EXAMPLE_TEST_APP}`;

export function addAppReset(app: CliCommand): void {
  app
    .command('reset')
    .summary('Delete what a test app has stored.')
    .description(
      'Delete what a test app has stored: its posts, with all comments and likes on them (comments of other apps are counted as comments_of_others), its comments on other posts, its grants with their codes and tokens, its idempotency keys, and its usage, so that its quota is unused. Its registration, its client secrets, its limit and the test members stay. Takes at least two seconds. Calls that are under way may leave rows: run the command again.',
    )
    .argument('<client_id>', 'a test app: see "app create --test"')
    .acceptsDryRun('show how many rows would be deleted, but delete nothing')
    .requiresConfirmation()
    .printsJson('{client_id, dry_run, tables: {…}}')
    .examples(`${RESET} --dry-run`, `${RESET} --yes --json`)
    .execute(async (session, clientId: string) => {
      const data = session.get('AppReset');
      const { isDryRun } = session;
      const { name } = await data.testApp(clientId);
      const counts = await data.preview(clientId);
      const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
      if (total > 0) await session.confirm(`Delete ${formatNumber(total, 'row')} of "${name}"?`);
      const tables = isDryRun
        ? counts
        : await data.reset(clientId, counts, {
            change: session.change,
            onBatch: (table, rows) => session.progress(`${table}: ${formatNumber(rows, 'row')}`),
          });
      return {
        json: { client_id: clientId, dry_run: isDryRun, tables },
        text: `${isDryRun ? 'Would delete' : 'Deleted'}:\n${keyValues(tables)}`,
        note: total > 0 ? undefined : 'No change.',
      };
    });
}
