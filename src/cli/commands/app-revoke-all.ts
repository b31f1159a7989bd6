import { type CliCommand, EXAMPLE_APP } from '../command.js';
import { formatNumber } from '../tables.js';
import { countProgress } from './app-show.js';

const EXAMPLE = `app revoke-all ${EXAMPLE_APP}`;

export function addAppRevokeAllCommand(app: CliCommand): void {
  app
    .command('revoke-all')
    .summary('Revoke all grants of an app, of all users.')
    .description(
      'Revoke all grants of all users to an app, with their codes and tokens. This is permanent: "app enable" does not restore them. Includes grants whose tokens have expired, which "grant list --all" shows. Users can authorize the app again; run "app disable" first to prevent that. If interrupted, run the command again.',
    )
    .argument('<client_id>')
    .acceptsDryRun('print the number of users and grants, but revoke nothing')
    .requiresConfirmation()
    .printsJson('{client_id, dry_run, users, grants}')
    .examples(
      `${EXAMPLE} --dry-run`,
      `${EXAMPLE} --reason "Its tokens have leaked"`,
      `${EXAMPLE} --yes --json`,
    )
    .execute(async (session, clientId: string) => {
      const dryRun = session.isDryRun;
      const { name } = await session.get('AppsService').get(clientId);
      const { grants, users } = await session
        .get('GrantReader')
        .count(clientId, 'not ended', countProgress(session));
      const json = { client_id: clientId, dry_run: dryRun, users };
      const count = `${formatNumber(grants, 'grant')} of ${formatNumber(users, 'user')}`;
      if (dryRun) return { json: { ...json, grants }, text: `Would revoke ${count}.` };
      if (grants > 0) await session.confirm(`Revoke ${count} to "${name}"?`);
      // Even without a grant above: a user may have authorized the app meanwhile.
      const revoked = await session
        .get('GrantsService')
        .revokeForApp(clientId, session.change, (done) =>
          session.progress(`Revoked ${done} of ${formatNumber(grants, 'grant')}`),
        );
      return {
        json: { ...json, grants: revoked },
        text: `Revoked ${formatNumber(revoked, 'grant')} to ${clientId}.`,
      };
    });
}
