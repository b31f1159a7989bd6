import { type Command, Option } from 'commander';
import type {
  AppSecretsService,
  Revocation,
  Rotation,
  SecretStatus,
} from '../modules/oauth/clients/app-secrets.service.js';
import type { AppsService } from '../modules/oauth/clients/apps.service.js';
import { HOUR, SECOND } from '../platform/clock.js';
import { type Answer, examples, type RunCommand, type Session } from './command.js';
import { duration, textUpTo } from './option-values.js';
import { list, table } from './tables.js';

/** What goes with a client secret wherever it is printed. */
export const SHOWN_ONCE =
  'The client secret is shown this once and cannot be read again. Keep it where only the app can read it.';

const WITHOUT_SECRET =
  'The app has no live secret, so it cannot authenticate until "app secret rotate" gives it a new one.';
const PUBLIC_APP = 'A public app holds no client secret: it proves itself with PKCE.';

/** The new secret, and on standard error what became of the former ones. */
export function rotationAnswer(clientId: string, graceMs: number, rotation: Rotation): Answer {
  const { secret, secretId, former } = rotation;
  return {
    json: {
      client_id: clientId,
      client_secret: secret,
      secret_id: secretId,
      grace_seconds: graceMs / SECOND,
    },
    text: table([
      ['client_id', clientId],
      ['client_secret', secret],
      ['secret_id', secretId],
    ]),
    remark: [SHOWN_ONCE, ...former.map(fate)].join('\n'),
  };
}

/** A table, or with `--json` an array. Never a secret. */
export function secretsAnswer(isPublic: boolean, secrets: readonly SecretStatus[]): Answer {
  const isAlive = secrets.some(({ isLive }) => isLive);
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
    ...(!isAlive && { remark: isPublic ? PUBLIC_APP : WITHOUT_SECRET }),
  };
}

export function revocationAnswer(clientId: string, revocation: Revocation): Answer {
  const { revoked, endedNow, live } = revocation;
  const remarks = [
    ...(endedNow ? [] : [`It had ended before, at ${moment(revoked.expiresAt)}.`]),
    ...(live === 0 ? [WITHOUT_SECRET] : []),
  ];
  return {
    json: { client_id: clientId, ...secretJson(revoked), live_secrets: live },
    text: table([
      ['client_id', clientId],
      ['secret_id', revoked.id],
      ['last_four', revoked.lastFour],
      ['status', statusOf(revoked)],
      ['expires_at', moment(revoked.expiresAt)],
      ['live_secrets', String(live)],
    ]),
    ...(remarks.length > 0 && { remark: remarks.join('\n') }),
  };
}

/** How a person tells secrets apart. */
export function described({ lastFour }: SecretStatus): string {
  return `the secret that ends in "${lastFour}"`;
}

function fate(secret: SecretStatus): string {
  const { isLive, expiresAt } = secret;
  const sentence = isLive ? `works until ${moment(expiresAt)}` : 'has ended';
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

function statusOf({ isLive }: SecretStatus): 'live' | 'ended' {
  return isLive ? 'live' : 'ended';
}

function moment(time: Date | null): string {
  return time?.toISOString() ?? 'never';
}

const CLIENT_ID = 'svc_app_01h455vb4pex5vsknk084sn02q';
const ROTATE = `app secret rotate ${CLIENT_ID}`;
const LIST = `app secret list ${CLIENT_ID}`;
const REVOKE = `app secret revoke ${CLIENT_ID} sec_01h455vb4pex5vsknk084sn02q`;

interface RotateOptions {
  grace: number;
}

/** `app secret rotate|list|revoke`. A secret is printed once, never taken as an argument. */
export function addAppSecretCommands(app: Command, run: RunCommand): void {
  const secret = app
    .command('secret')
    .summary('Change, list and end client secrets.')
    .description(
      'The client secrets of confidential apps. An app has one, or two while it changes over from one to the next.',
    )
    .addHelpText('before', examples(ROTATE, LIST, REVOKE));
  addRotate(secret, run);
  addList(secret, run);
  addRevoke(secret, run);
}

function addRotate(secret: Command, run: RunCommand): void {
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
    .option('--reason <text>', 'why, for the audit log', textUpTo(500))
    .option('--yes', 'do not ask')
    .addHelpText(
      'before',
      examples(ROTATE, `${ROTATE} --grace 0 --reason "The old one was published"`),
    )
    .action((clientId: string, { grace }: RotateOptions, command: Command) =>
      run(command, async (session) => {
        const { apps, secrets } = await services(session);
        const { name } = await apps.show(clientId);
        const live = await liveSecrets(secrets, clientId);
        const ending = grace === 0 ? live : live.slice(1);
        if (ending.length > 0)
          await session.confirm(`End ${ending.map(described).join(' and ')} of "${name}" at once?`);
        return rotationAnswer(
          clientId,
          grace,
          await secrets.rotate(clientId, grace, session.change),
        );
      }),
    );
}

function addList(secret: Command, run: RunCommand): void {
  secret
    .command('list')
    .summary('List the client secrets that work.')
    .description(
      'List the client secrets of the app that work: id, last four characters, when each was created and last used (to the minute), and when it ends.',
    )
    .argument('<client_id>')
    .option('--all', 'those that have ended, too')
    .addHelpText('before', examples(LIST, `${LIST} --all --json`))
    .action((clientId: string, { all = false }: { all?: boolean }, command: Command) =>
      run(command, async (session) => {
        const { apps, secrets } = await services(session);
        const { kind } = await apps.show(clientId);
        const listed = (await secrets.list(clientId)).filter(({ isLive }) => all || isLive);
        return secretsAnswer(kind === 'public', listed);
      }),
    );
}

function addRevoke(secret: Command, run: RunCommand): void {
  secret
    .command('revoke')
    .summary('End one client secret at once.')
    .description(
      'End one client secret at once. "app secret list" tells its id. Asks first at a terminal; scripts and --json are not asked.',
    )
    .argument('<client_id>', 'the id of the app')
    .argument('<secret_id>', 'the id of the secret, never the secret itself')
    .option('--reason <text>', 'why, for the audit log', textUpTo(500))
    .option('--yes', 'do not ask')
    .addHelpText('before', examples(`${REVOKE} --reason "Found in a log"`))
    .action((clientId: string, secretId: string, _options, command: Command) =>
      run(command, async (session) => {
        const { apps, secrets } = await services(session);
        const { name } = await apps.show(clientId);
        const live = await liveSecrets(secrets, clientId);
        const ending = live.find(({ id }) => id === secretId);
        if (ending) {
          const last =
            live.length === 1 ? ' It is the last one: the app cannot authenticate then.' : '';
          await session.confirm(`End ${described(ending)} of "${name}" at once?${last}`);
        }
        return revocationAnswer(clientId, await secrets.revoke(clientId, secretId, session.change));
      }),
    );
}

async function liveSecrets(secrets: AppSecretsService, clientId: string): Promise<SecretStatus[]> {
  return (await secrets.list(clientId)).filter(({ isLive }) => isLive);
}

async function services(
  session: Session,
): Promise<{ apps: AppsService; secrets: AppSecretsService }> {
  const [{ AppsService: Apps }, { AppSecretsService: Secrets }] = await Promise.all([
    import('../modules/oauth/clients/apps.service.js'),
    import('../modules/oauth/clients/app-secrets.service.js'),
  ]);
  return { apps: session.get(Apps), secrets: session.get(Secrets) };
}
