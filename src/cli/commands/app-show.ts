import type { QuotaStatus } from '../../modules/quota/quota.service.js';
import { type CliCommand, EXAMPLE_APP } from '../command.js';
import type { Session } from '../session.js';
import { formatNumber, membersOf, table } from '../tables.js';
import { APP_MEMBERS, appJson, appRows } from './app-result.js';
import { QUOTA_MEMBERS } from './quota.js';

export function addAppShowCommand(app: CliCommand): void {
  app
    .command('show')
    .summary('Show an app, its users, quota and secrets.')
    .description(
      'Show the registration and the use of an app: the users with an active grant, the last API call or refresh (accurate to the minute), the quota of this month (UTC) and the live secrets. Reads all grants of the app, which takes some seconds if there are hundreds of thousands.',
    )
    .argument('<client_id>')
    .printsJson(
      `{${APP_MEMBERS}, active_users, last_used_at, quota: {${QUOTA_MEMBERS}}, live_secrets, newest_secret_last_four}`,
    )
    .examples(`app show ${EXAMPLE_APP}`, `app show ${EXAMPLE_APP} --json`)
    .execute(async (session, clientId: string) => {
      const registered = await session.get('AppsService').get(clientId);
      const { users, lastUsedAt } = await session
        .get('GrantReader')
        .count(clientId, 'active', countProgress(session));
      const quota = await session.get('QuotaService').status(clientId);
      const secrets = await session.get('AppSecretsService').list(clientId);
      const live = secrets.filter(({ isLive }) => isLive);
      const lastFour = live[0]?.lastFour ?? null;
      const newest = lastFour === null ? '' : `, the newest ends in "${lastFour}"`;
      return {
        json: {
          ...appJson(session, registered),
          active_users: users,
          last_used_at: lastUsedAt,
          quota: membersOf(QUOTA_MEMBERS, quota),
          live_secrets: live.length,
          newest_secret_last_four: lastFour,
        },
        text: table([
          ...appRows(session, registered),
          ['active_users', String(users)],
          ['last_used_at', session.time(lastUsedAt)],
          ['quota', formatQuota(quota)],
          ['live_secrets', `${live.length}${newest}`],
        ]),
      };
    });
}

function formatQuota({ plan, used, limit, period }: QuotaStatus): string {
  const posts = limit === null ? `${used} posts, without a limit,` : `${used} of ${limit} posts`;
  return `${posts} in ${period}, plan "${plan}"`;
}

/** The progress line of a command that counts grants. */
export function countProgress(session: Session): (read: number) => void {
  return (read) => session.progress(`Read ${formatNumber(read, 'grant')}`);
}
