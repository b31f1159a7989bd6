import { Option } from 'commander';
import type {
  AppSecretsService,
  Revocation,
  Rotation,
  SecretStatus,
} from '../../modules/oauth/clients/app-secrets.service.js';
import { HOUR, SECOND } from '../../platform/clock.js';
import type { CliCommand, Result } from '../command.js';
import { duration } from '../option-values.js';
import { keyValues, list } from '../tables.js';

/** Printed beside every client secret. */
export const SHOWN_ONCE =
  'The client secret is shown this once and cannot be read again. Keep it where only the app can read it.';

const WITHOUT_SECRET =
  'The app has no live secret, so it cannot authenticate until "app secret rotate" gives it a new one.';
const PUBLIC_APP = 'A public app holds no client secret: it proves itself with PKCE.';

function rotationResult(clientId: string, graceMs: number, rotation: Rotation): Result {
  const { secret, secretId, former } = rotation;
  const shown = { client_id: clientId, client_secret: secret, secret_id: secretId };
  return {
    json: { ...shown, grace_seconds: graceMs / SECOND },
    text: keyValues(shown),
    note: [SHOWN_ONCE, ...former.map(validity)].join('\n'),
  };
}

function secretsResult(isPublic: boolean, secrets: readonly SecretStatus[]): Result {
  return {
    json: secrets.map(secretJson),
    text: list(
      ['SECRET_ID', 'LAST_FOUR', 'STATUS', 'CREATED', 'LAST_USED', 'EXPIRES'],
      secrets.map((secret) => [
        secret.id,
        secret.lastFour,
        statusOf(secret),
        moment(secret.createdAt),
        moment(secret.lastUsedAt),
        moment(secret.expiresAt),
      ]),
    ),
    ...(!secrets.some(isLive) && { note: isPublic ? PUBLIC_APP : WITHOUT_SECRET }),
  };
}

function revocationResult(clientId: string, revocation: Revocation): Result {
  const { revoked, endedNow, live } = revocation;
  const notes: string[] = [];
  if (!endedNow) notes.push(`It had ended before, at ${moment(revoked.expiresAt)}.`);
  if (live === 0) notes.push(WITHOUT_SECRET);
  return {
    json: { client_id: clientId, ...secretJson(revoked), live_secrets: live },
    text: keyValues({
      client_id: clientId,
      secret_id: revoked.id,
      last_four: revoked.lastFour,
      status: statusOf(revoked),
      expires_at: moment(revoked.expiresAt),
      live_secrets: live,
    }),
    ...(notes.length > 0 && { note: notes.join('\n') }),
  };
}

function described({ lastFour }: SecretStatus): string {
  return `the secret that ends in "${lastFour}"`;
}

function validity(secret: SecretStatus): string {
  const sentence = secret.isLive ? `works until ${moment(secret.expiresAt)}` : 'has ended';
  return `T${described(secret).slice(1)} ${sentence}.`;
}

function secretJson(secret: SecretStatus): object {
  return {
    secret_id: secret.id,
    last_four: secret.lastFour,
    status: statusOf(secret),
    created_at: secret.createdAt.toISOString(),
    last_used_at: secret.lastUsedAt?.toISOString() ?? null,
    expires_at: secret.expiresAt?.toISOString() ?? null,
  };
}

function isLive(secret: SecretStatus): boolean {
  return secret.isLive;
}

function statusOf(secret: SecretStatus): 'live' | 'ended' {
  return secret.isLive ? 'live' : 'ended';
}

function moment(time: Date | null): string {
  return time?.toISOString() ?? 'never';
}

const CLIENT_ID = 'svc_app_01h455vb4pex5vsknk084sn02q';
const ROTATE = `app secret rotate ${CLIENT_ID}`;
const LIST = `app secret list ${CLIENT_ID}`;
const REVOKE = `app secret revoke ${CLIENT_ID} sec_01h455vb4pex5vsknk084sn02q`;

/** `app secret rotate|list|revoke`. A secret is printed once, never taken as an argument. */
export function addAppSecretCommands(app: CliCommand): void {
  const secret = app
    .command('secret')
    .summary('Change, list and end client secrets.')
    .description(
      'The client secrets of confidential apps. An app has one, or two while it changes over from one to the next.',
    )
    .examples(ROTATE, LIST, REVOKE);
  addRotate(secret);
  addList(secret);
  addRevoke(secret);
}

function addRotate(secret: CliCommand): void {
  secret
    .command('rotate')
    .summary('Give the app a new client secret.')
    .description(
      'Give the app a new client secret, shown once. The current one works on for the time of --grace, so that the partner can change over; one that is older still ends now. Asks first at a terminal when a secret ends now; scripts and --json are not asked.',
    )
    .argument('<client_id>')
    .addOption(
      new Option(
        '--grace <time>',
        'how long the current secret works on, such as 30m, 24h or 7d; 0 ends it now, as after a leak',
      )
        .argParser(duration)
        .default(24 * HOUR, '24h'),
    )
    .confirmed()
    .examples(ROTATE, `${ROTATE} --grace 0 --reason "The old one was published"`)
    .execute(async (session, clientId: string, { grace }: { grace: number }) => {
      const secrets = session.get('AppSecretsService');
      const { name } = await session.get('AppsService').show(clientId);
      const live = await liveSecrets(secrets, clientId);
      const ending = grace === 0 ? live : live.slice(1);
      if (ending.length > 0)
        await session.confirm(`End ${ending.map(described).join(' and ')} of "${name}" at once?`);
      return rotationResult(clientId, grace, await secrets.rotate(clientId, grace, session.change));
    });
}

function addList(secret: CliCommand): void {
  secret
    .command('list')
    .summary('List the client secrets that work.')
    .description(
      'List the client secrets of the app that work: id, last four characters, when each was created and last used (to the minute), and when it ends.',
    )
    .argument('<client_id>')
    .option('--all', 'those that have ended, too')
    .examples(LIST, `${LIST} --all --json`)
    .execute(async (session, clientId: string, { all = false }: { all?: boolean }) => {
      const { kind } = await session.get('AppsService').show(clientId);
      const secrets = await session.get('AppSecretsService').list(clientId);
      return secretsResult(kind === 'public', all ? secrets : secrets.filter(isLive));
    });
}

function addRevoke(secret: CliCommand): void {
  secret
    .command('revoke')
    .summary('End one client secret at once.')
    .description(
      'End one client secret at once. "app secret list" tells its id. Asks first at a terminal; scripts and --json are not asked.',
    )
    .argument('<client_id>', 'the id of the app')
    .argument('<secret_id>', 'the id of the secret, never the secret itself')
    .confirmed()
    .examples(`${REVOKE} --reason "Found in a log"`)
    .execute(async (session, clientId: string, secretId: string) => {
      const secrets = session.get('AppSecretsService');
      const { name } = await session.get('AppsService').show(clientId);
      const live = await liveSecrets(secrets, clientId);
      const ending = live.find(({ id }) => id === secretId);
      if (ending) {
        const last =
          live.length === 1 ? ' It is the last one: the app cannot authenticate then.' : '';
        await session.confirm(`End ${described(ending)} of "${name}" at once?${last}`);
      }
      return revocationResult(clientId, await secrets.revoke(clientId, secretId, session.change));
    });
}

async function liveSecrets(secrets: AppSecretsService, clientId: string): Promise<SecretStatus[]> {
  return (await secrets.list(clientId)).filter(isLive);
}
