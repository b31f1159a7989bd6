import { Option, type Command } from 'commander';
import { HOUR } from '../../../common/clock.js';
import { examples, type RunCommand, type Session } from '../../../command-line/command.js';
import { duration, textUpTo } from '../../../command-line/option-values.js';
import { described, revocationAnswer, rotationAnswer, secretsAnswer } from './app-secret-answer.js';
import type { AppSecretsService, SecretStatus } from './app-secrets.service.js';
import type { AppsService } from './apps.service.js';

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
    import('./apps.service.js'),
    import('./app-secrets.service.js'),
  ]);
  return { apps: session.get(Apps), secrets: session.get(Secrets) };
}
