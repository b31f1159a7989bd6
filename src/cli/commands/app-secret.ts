import { Option } from 'commander';
import type {
  AppSecretsService,
  Revocation,
  Rotation,
  SecretStatus,
} from '../../modules/oauth/clients/app-secrets.service.js';
import type { App } from '../../modules/oauth/clients/client.entities.js';
import { HOUR, SECOND } from '../../platform/clock.js';
import { type CliCommand, EXAMPLE_APP } from '../command.js';
import type { Result, Session } from '../session.js';
import { parseDuration } from '../option-values.js';
import { keyValues, membersOf } from '../tables.js';

/** Printed with every new client secret. */
export const SECRET_SHOWN_ONCE =
  'The client secret is shown only once. Store it where only the app can read it.';

const NO_LIVE_SECRET =
  'The app has no live secret and cannot authenticate. Run "app secret rotate" to create one.';
const PUBLIC_APP = 'A public app has no client secret. It authenticates with PKCE only.';

function rotationResult(
  session: Session,
  clientId: string,
  graceMs: number,
  rotation: Rotation,
): Result {
  const { secret, secretId, former } = rotation;
  const created = { client_id: clientId, client_secret: secret, secret_id: secretId };
  return {
    json: { ...created, grace_seconds: graceMs / SECOND },
    text: keyValues(created),
    note: [SECRET_SHOWN_ONCE, ...former.map((one) => validitySentence(session, one))].join('\n'),
  };
}

function secretsResult(
  session: Session,
  kind: App['kind'],
  secrets: readonly SecretStatus[],
): Result {
  return {
    json: secrets.map(secretJson),
    text: session.list(
      ['SECRET_ID', 'LAST_FOUR', 'STATUS', 'CREATED', 'LAST_USED', 'EXPIRES'],
      secrets.map((secret) => [
        secret.id,
        secret.lastFour,
        statusOf(secret),
        session.time(secret.createdAt),
        session.time(secret.lastUsedAt),
        session.time(secret.expiresAt),
      ]),
      'There are no secrets.',
    ),
    note: secrets.some(isLive) ? undefined : kind === 'public' ? PUBLIC_APP : NO_LIVE_SECRET,
  };
}

function revocationResult(session: Session, clientId: string, revocation: Revocation): Result {
  const { revoked, revokedNow, live } = revocation;
  const notes: string[] = [];
  if (!revokedNow)
    notes.push(`No change. The secret already ended at ${session.time(revoked.expiresAt)}.`);
  if (live === 0) notes.push(NO_LIVE_SECRET);
  return {
    json: { client_id: clientId, ...secretJson(revoked), live_secrets: live },
    text: keyValues({
      client_id: clientId,
      secret_id: revoked.id,
      last_four: revoked.lastFour,
      status: statusOf(revoked),
      expires_at: session.time(revoked.expiresAt),
      live_secrets: live,
    }),
    ...(notes.length > 0 && { note: notes.join('\n') }),
  };
}

function describeSecret({ lastFour }: SecretStatus): string {
  return `secret ending in "${lastFour}"`;
}

function validitySentence(session: Session, secret: SecretStatus): string {
  const validity = secret.isLive
    ? `is valid until ${session.time(secret.expiresAt)}`
    : 'is no longer valid';
  return `The ${describeSecret(secret)} ${validity}.`;
}

const SECRET_MEMBERS = 'secret_id, last_four, status, created_at, last_used_at, expires_at';

function secretJson(secret: SecretStatus): object {
  return membersOf(SECRET_MEMBERS, secret, { secretId: secret.id, status: statusOf(secret) });
}

function isLive(secret: SecretStatus): boolean {
  return secret.isLive;
}

function statusOf(secret: SecretStatus): 'live' | 'ended' {
  return secret.isLive ? 'live' : 'ended';
}

const ROTATE = `app secret rotate ${EXAMPLE_APP}`;
const LIST = `app secret list ${EXAMPLE_APP}`;
const REVOKE = `app secret revoke ${EXAMPLE_APP} sec_01h455vb4pex5vsknk084sn02q`;

/** `app secret rotate|list|revoke`. Prints a secret only once and never accepts one as an argument. */
export function addAppSecretCommands(app: CliCommand): void {
  const secret = app
    .command('secret')
    .summary('Rotate, list and revoke client secrets.')
    .description(
      'Manage the client secrets of confidential apps. An app has one secret, or two during a rotation.',
    )
    .examples(ROTATE, LIST, REVOKE);

  secret
    .command('rotate')
    .summary('Create a new client secret.')
    .description(
      'Create a new client secret and print it once. The current secret remains valid for the --grace period; older ones are revoked immediately. If the new secret cannot be printed, nothing changes.',
    )
    .argument('<client_id>')
    .addOption(
      new Option(
        '--grace <time>',
        'how long the current secret remains valid, such as 30m, 24h or 7d; 0 revokes it immediately',
      )
        .argParser(parseDuration)
        .default(24 * HOUR, '24h'),
    )
    .requiresConfirmation('Revoking a secret immediately')
    .printsJson('{client_id, client_secret, secret_id, grace_seconds}')
    .examples(ROTATE, `${ROTATE} --grace 0 --reason "Leaked"`)
    .execute(async (session, clientId: string, { grace }: { grace: number }) => {
      const secrets = session.get('AppSecretsService');
      const { name } = await session.get('AppsService').get(clientId);
      const live = await liveSecrets(secrets, clientId);
      // The newest secret stays valid for the grace period.
      const toRevoke = grace === 0 ? live : live.slice(1);
      if (toRevoke.length > 0)
        await session.confirm(
          `Revoke the ${toRevoke.map(describeSecret).join(' and the ')} of "${name}" immediately?`,
        );
      await secrets.rotate(clientId, grace, session.change, (rotation) =>
        session.show(rotationResult(session, clientId, grace, rotation)),
      );
    });

  secret
    .command('list')
    .summary('List client secrets.')
    .description(
      'List the client secrets of an app that are neither revoked nor expired. LAST_USED is accurate to the minute.',
    )
    .argument('<client_id>')
    .option('--all', 'include expired and revoked secrets')
    .printsJson(`[{${SECRET_MEMBERS}}]`)
    .examples(LIST, `${LIST} --all --json`)
    .execute(async (session, clientId: string, { all = false }: { all?: boolean }) => {
      const { kind } = await session.get('AppsService').get(clientId);
      const secrets = await session.get('AppSecretsService').list(clientId);
      return secretsResult(session, kind, all ? secrets : secrets.filter(isLive));
    });

  secret
    .command('revoke')
    .summary('Revoke a client secret.')
    .description('Revoke a client secret immediately. Run "app secret list" to find its id.')
    .argument('<client_id>', 'id of the app')
    .argument('<secret_id>', 'id of the secret, not the secret itself')
    .requiresConfirmation()
    .printsJson(`{client_id, ${SECRET_MEMBERS}, live_secrets}`)
    .examples(`${REVOKE} --reason "Found in a log"`)
    .execute(async (session, clientId: string, secretId: string) => {
      const secrets = session.get('AppSecretsService');
      const { name } = await session.get('AppsService').get(clientId);
      const live = await liveSecrets(secrets, clientId);
      const toRevoke = live.find(({ id }) => id === secretId);
      if (toRevoke) {
        const warning =
          live.length === 1 ? ' It is the last one, so the app can no longer authenticate.' : '';
        await session.confirm(
          `Revoke the ${describeSecret(toRevoke)} of "${name}" immediately?${warning}`,
        );
      }
      const revocation = await secrets.revoke(clientId, secretId, session.change);
      return revocationResult(session, clientId, revocation);
    });
}

/** The live secrets of the app, newest first. */
async function liveSecrets(secrets: AppSecretsService, clientId: string): Promise<SecretStatus[]> {
  return (await secrets.list(clientId)).filter(isLive);
}
