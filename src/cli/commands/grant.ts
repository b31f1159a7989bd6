import type { GrantDetails } from '../../modules/oauth/tokens/grant-reader.repository.js';
import { formatScope } from '../../platform/access/scopes.js';
import {
  changeResult,
  type CliCommand,
  EXAMPLE_APP,
  EXAMPLE_USER,
  listResult,
  type PagingOptions,
} from '../command.js';
import { parseClientId, parseGrantId, parseUserId } from '../option-values.js';
import type { Session } from '../session.js';
import { membersOf } from '../tables.js';

interface ListOptions extends PagingOptions {
  user?: string;
  app?: string;
  all?: boolean;
}

const GRANT_MEMBERS =
  'id, status, user_id, user_name, client_id, app_name, scopes, created_at, last_used_at, expires_at, revoked_at';
const LIST = `grant list --user ${EXAMPLE_USER}`;
const REVOKE = 'grant revoke grt_01h455vb4pex5vsknk084sn02q';

export function addGrantCommands(program: CliCommand): void {
  const grant = program
    .command('grant')
    .description('List and revoke the grants of users to apps.')
    .examples(LIST, REVOKE);

  grant
    .command('list')
    .summary('List the grants of a user or an app, newest first.')
    .description(
      'List the active grants of a user or an app, newest first: those with a code or token that the app can still use. SCOPES omits those that the user has withdrawn, and those that the app is no longer registered for. LAST_USED is the last API call or refresh, accurate to the minute. If there are more than --limit, a note says how to continue.',
    )
    .option('--user <user_id>', 'grants of this user', parseUserId)
    .option('--app <client_id>', 'grants to this app', parseClientId)
    .option('--all', 'include expired and revoked grants, which are kept for 90 days')
    .acceptsPaging(parseGrantId)
    .printsJson(`{grants: [{${GRANT_MEMBERS}}], next_before}`)
    .examples(LIST, `grant list --app ${EXAMPLE_APP} --all`, `${LIST} --app ${EXAMPLE_APP} --json`)
    .action((options: ListOptions, own: CliCommand) => {
      const { user: userId, app: clientId, all: includeEnded = false, ...paging } = options;
      if (userId === undefined && clientId === undefined)
        return own.error('error: use --user, --app or both');
      return own.start(async (session) => {
        // Throw if the user or the app does not exist.
        if (userId !== undefined) await session.get('UsersService').get(userId);
        if (clientId !== undefined) await session.get('AppsService').get(clientId);
        const search = { userId, clientId, includeEnded };
        const grants = await session.get('GrantReader').find(search, paging);
        const [header, ...rows] = grantTable(session, grants.items, options);
        const none = `There are no ${includeEnded ? '' : 'active '}grants.`;
        const json = grants.items.map((one) => membersOf(GRANT_MEMBERS, one));
        return listResult('grants', grants, { json, text: session.list(header, rows, none) });
      });
    });

  grant
    .command('revoke')
    .summary('Revoke one grant.')
    .description(
      'Revoke one grant of a user to an app, with its code and tokens, at once. Other grants of the same user to the app stay valid. The user can authorize the app again.',
    )
    .argument('<grant_id>', 'from "grant list"')
    .requiresConfirmation()
    .printsJson('{id, user_id, client_id, revoked}')
    .examples(`${REVOKE} --reason "Requested by the member"`, `${REVOKE} --yes --json`)
    .execute(async (session, id: string) => {
      const found = await session.get('GrantReader').get(id);
      const { clientId, userId } = found;
      if (found.status !== 'revoked')
        await session.confirm(
          `Revoke the access of "${found.appName}" to the account of "${found.userName}"?`,
        );
      const revoked = await session.get('GrantsService').revokeOne(found, session.change);
      const subject = `${id} of ${userId} to ${clientId}`;
      return changeResult(revoked, { id, user_id: userId, client_id: clientId, revoked }, [
        `Revoked ${subject}.`,
        `${subject} was already revoked.`,
      ]);
    });
}

/** The header and a row for each grant. Omits the columns of a given user or app, which would repeat one value. */
function grantTable(
  session: Session,
  grants: readonly GrantDetails[],
  { user, app }: ListOptions,
): [string[], ...string[][]] {
  const header = [
    'GRANT_ID',
    'STATUS',
    'CREATED',
    'LAST_USED',
    ...(user === undefined ? ['USER_ID', 'USER'] : []),
    ...(app === undefined ? ['CLIENT_ID', 'APP'] : []),
    'SCOPES',
  ];
  const rows = grants.map((grant) => [
    grant.id,
    grant.status,
    session.time(grant.createdAt),
    session.time(grant.lastUsedAt),
    ...(user === undefined ? [grant.userId, grant.userName] : []),
    ...(app === undefined ? [grant.clientId, grant.appName] : []),
    formatScope(grant.scopes),
  ]);
  return [header, ...rows];
}
