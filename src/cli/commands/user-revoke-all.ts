import type { EndedAccess } from '../../modules/oauth/account/user-access.service.js';
import type { AppSummary } from '../../modules/oauth/tokens/grants.service.js';
import type { CliCommand, Result } from '../command.js';
import type { Session } from '../session.js';
import { formatNumber, list } from '../tables.js';

const USER_ID = 'usr_01h455vb4pex5vsknk084sn02q';

export function addUserRevokeAllCommand(user: CliCommand): void {
  user
    .command('revoke-all')
    .summary('Revoke all grants and sessions of a user.')
    .description(
      'Revoke all grants of a user, with their tokens, and all sign-in sessions and trusted devices. The user can sign in and authorize apps again; use "user block" to prevent that.',
    )
    .argument('<user_id>')
    .acceptsDryRun('list the apps and count the sessions, but revoke nothing')
    .requiresConfirmation()
    .printsJson('{id, dry_run, apps: [{client_id, name}], sessions}')
    .examples(
      `user revoke-all ${USER_ID} --dry-run`,
      `user revoke-all ${USER_ID} --reason "Lost her phone"`,
      `user revoke-all ${USER_ID} --yes --json`,
    )
    .execute(async (session, id: string) => {
      const access = session.get('UserAccess');
      const { name } = await session.get('UsersService').get(id);
      await session.confirm(`Revoke all grants and sessions of "${name}"?`);
      return endedResult(
        session,
        id,
        await (session.isDryRun ? access.preview(id) : access.end(id, session.change)),
      );
    });
}

export function revokedAppJson({ clientId, name }: AppSummary): Record<string, string> {
  return { client_id: clientId, name };
}

function endedResult(session: Session, id: string, { apps, sessions }: EndedAccess): Result {
  const { isDryRun, width } = session;
  const header = ['CLIENT_ID', isDryRun ? 'WOULD_REVOKE' : 'REVOKED'];
  const rows = apps.map(({ clientId, name }) => [clientId, name]);
  return {
    json: {
      id,
      dry_run: isDryRun,
      apps: apps.map(revokedAppJson),
      sessions,
    },
    text: list(header, rows, {
      width,
      none: `The user ${isDryRun ? 'has' : 'had'} no active grants.`,
    }),
    note: `${isDryRun ? 'Would end' : 'Ended'} ${formatNumber(sessions, 'sign-in session')}.`,
  };
}
