import type { SecretStatus } from '../../modules/oauth/clients/app-secrets.service.js';
import type { QuotaStatus } from '../../modules/quota/quota.service.js';
import type { CliCommand } from '../command.js';
import type { Session } from '../session.js';
import { formatNumber, table } from '../tables.js';
import { APP_MEMBERS, appJson, appRows } from './app-result.js';
import { QUOTA_MEMBERS, quotaJson } from './quota.js';

const CLIENT_ID = 'svc_app_01h455vb4pex5vsknk084sn02q';

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
    .examples(`app show ${CLIENT_ID}`, `app show ${CLIENT_ID} --json`)
    .execute(async (session, clientId: string) => {
      const registered = await session.get('AppsService').get(clientId);
      const use = await useOf(session, clientId);
      return {
        json: { ...appJson(session, registered), ...useJson(use) },
        text: table([...appRows(session, registered), ...useRows(session, use)]),
      };
    });
}

/** What an app uses now. */
interface AppUse {
  /** Users with an active grant. */
  users: number;
  lastUsedAt: Date | null;
  quota: QuotaStatus;
  /** Newest first. */
  liveSecrets: readonly SecretStatus[];
}

async function useOf(session: Session, clientId: string): Promise<AppUse> {
  const { users, lastUsedAt } = await session
    .get('GrantReader')
    .countActive(clientId, countProgress(session));
  const quota = await session.get('QuotaService').status(clientId);
  const secrets = await session.get('AppSecretsService').list(clientId);
  return { users, lastUsedAt, quota, liveSecrets: secrets.filter(({ isLive }) => isLive) };
}

function useJson({ users, lastUsedAt, quota, liveSecrets }: AppUse): object {
  return {
    active_users: users,
    last_used_at: lastUsedAt?.toISOString() ?? null,
    quota: quotaJson(quota),
    live_secrets: liveSecrets.length,
    newest_secret_last_four: liveSecrets[0]?.lastFour ?? null,
  };
}

function useRows(session: Session, { users, lastUsedAt, quota, liveSecrets }: AppUse): string[][] {
  return [
    ['active_users', String(users)],
    ['last_used_at', session.time(lastUsedAt)],
    ['quota', formatQuota(quota)],
    ['live_secrets', formatSecrets(liveSecrets)],
  ];
}

function formatQuota({ plan, used, limit, period }: QuotaStatus): string {
  const posts = limit === null ? `${used} posts, without a limit,` : `${used} of ${limit} posts`;
  return `${posts} in ${period}, plan "${plan}"`;
}

function formatSecrets([newest, ...others]: readonly SecretStatus[]): string {
  return newest === undefined
    ? '0'
    : `${others.length + 1}, the newest ends in "${newest.lastFour}"`;
}

/** The progress line of a command that counts grants. */
export function countProgress(session: Session): (read: number) => void {
  return (read) => session.progress(`Read ${formatNumber(read, 'grant')}`);
}
