import type { RegisteredApp } from '../../modules/oauth/clients/apps.service.js';
import type { App } from '../../modules/oauth/clients/client.entities.js';
import type { PlanAssignment } from '../../modules/quota/quota.service.js';
import { addAppSecretCommands, SHOWN_ONCE } from './app-secret.js';
import type { CliCommand, Result } from '../command.js';
import { collect, monthlyLimit, textUpTo } from '../option-values.js';
import { list, table } from '../tables.js';

function appResult(app: RegisteredApp, secret?: string): Result {
  const rows = [
    ['client_id', app.clientId],
    ...(secret === undefined ? [] : [['client_secret', secret]]),
    ['name', app.name],
    ['type', app.kind],
    ...app.redirectUris.map((uri, index) => [index === 0 ? 'redirect_uris' : '', uri]),
    ['scopes', app.scopes.join(' ')],
    ['status', statusOf(app)],
    ['created_at', app.createdAt.toISOString()],
  ];
  const note = secret === undefined ? undefined : SHOWN_ONCE;
  return { json: appJson(app, secret), text: table(rows), note };
}

/** The names are those of RFC 6749 and RFC 7591. */
function appJson(app: RegisteredApp, secret?: string): object {
  return {
    client_id: app.clientId,
    ...(secret !== undefined && { client_secret: secret }),
    name: app.name,
    type: app.kind,
    redirect_uris: app.redirectUris,
    scopes: app.scopes,
    status: statusOf(app),
    created_at: app.createdAt.toISOString(),
  };
}

function statusOf({ enabled }: RegisteredApp): App['status'] {
  return enabled ? 'enabled' : 'disabled';
}

const CLIENT_ID = 'svc_app_01h455vb4pex5vsknk084sn02q';
const CREATE =
  'app create --name "Garden Share" --redirect-uri https://garden.example/callback --scope "profile.read posts.write"';

interface CreateOptions {
  name: string;
  redirectUri: string[];
  scope: string;
  public?: boolean;
  limit?: PlanAssignment;
}

type UpdateOptions = Partial<Pick<CreateOptions, 'name' | 'redirectUri' | 'scope'>>;

export function addAppCommands(program: CliCommand): void {
  const app = program
    .command('app')
    .description('Register apps, change them, and switch them off and on.')
    .examples(CREATE, 'app list', `app disable ${CLIENT_ID}`);
  addCreate(app);
  addReaders(app);
  addUpdate(app);
  addStatus(app, 'disabled');
  addStatus(app, 'enabled');
  addAppSecretCommands(app);
}

function addCreate(app: CliCommand): void {
  app
    .command('create')
    .summary('Register an app.')
    .description('Register an app. A confidential app gets a client secret, shown once.')
    .requiredOption('--name <name>', 'as shown to users on the consent page', textUpTo(200))
    .requiredOption(
      '--redirect-uri <uri>',
      'where users come back to, in full: https, or http on loopback, or a scheme such as com.example.app:; may be given again',
      collect,
    )
    .requiredOption('--scope <scopes>', 'what it may ask for, separated by spaces')
    .option('--public', 'an app that cannot keep a secret, such as a mobile app: it uses PKCE')
    .option('--limit <posts>', 'posts per month, or "unlimited", or "default"', monthlyLimit)
    .audited()
    .examples(
      CREATE,
      'app create --public --name "Garden Phone" --redirect-uri com.example.garden:/callback --scope profile.read --json',
    )
    .execute(async (session, options: CreateOptions) => {
      const { name, redirectUri: redirectUris, scope, limit } = options;
      const kind = options.public === true ? 'public' : 'confidential';
      const quota = session.get('QuotaService');
      const { app: created, secret } = await session
        .get('AppsService')
        .register({ name, kind, redirectUris, scope }, session.change, async (tx, clientId) => {
          if (limit !== undefined)
            await quota.setInTransaction(tx, clientId, limit, session.change);
        });
      return appResult(created, secret);
    });
}

function addReaders(app: CliCommand): void {
  app
    .command('list')
    .description('List every app.')
    .examples('app list', 'app list --json')
    .execute(async (session) => {
      const apps = await session.get('AppsService').list();
      const rows = apps.map((one) => [one.clientId, one.kind, statusOf(one), one.name]);
      return {
        json: apps.map((one) => appJson(one)),
        text: list(['CLIENT_ID', 'TYPE', 'STATUS', 'NAME'], rows),
      };
    });

  app
    .command('show')
    .description('Show one app.')
    .argument('<client_id>')
    .examples(`app show ${CLIENT_ID}`)
    .execute(async (session, clientId: string) =>
      appResult(await session.get('AppsService').show(clientId)),
    );
}

function addUpdate(app: CliCommand): void {
  app
    .command('update')
    .summary('Change what is registered of an app.')
    .description(
      'Change the name, redirect URIs or scopes of an app. What is given replaces all of what was registered before. A sign-in under way to a redirect URI that is gone fails, and one that asks for a scope that is gone goes on without it; what users have granted before stays granted. Asks first at a terminal when something is taken away; scripts and --json are not asked.',
    )
    .argument('<client_id>')
    .option('--name <name>', 'as shown to users on the consent page', textUpTo(200))
    .option(
      '--redirect-uri <uri>',
      'in place of all that are registered; may be given again',
      collect,
    )
    .option('--scope <scopes>', 'all that it may ask for from now on, separated by spaces')
    .confirmed()
    .examples(
      `app update ${CLIENT_ID} --name "Garden Share"`,
      `app update ${CLIENT_ID} --redirect-uri https://garden.example/callback --redirect-uri https://garden.example/new`,
      `app update ${CLIENT_ID} --scope "profile.read posts.read" --reason "No longer publishes"`,
    )
    .action((clientId: string, options: UpdateOptions, command: CliCommand) => {
      const { name, redirectUri: redirectUris, scope } = options;
      if ((name ?? redirectUris ?? scope) === undefined)
        return command.error('error: give --name, --redirect-uri or --scope');
      return command.start(async (session) => {
        const apps = session.get('AppsService');
        const before = await apps.show(clientId);
        const scopes: readonly string[] | undefined = scope?.split(' ');
        const lost = [
          ...before.redirectUris.filter((uri) => redirectUris?.includes(uri) === false),
          ...before.scopes.filter((one) => scopes?.includes(one) === false),
        ];
        if (lost.length > 0)
          await session.confirm(`Take ${lost.join(' and ')} away from "${before.name}"?`);
        const changes = { name, redirectUris, scope };
        const { app: updated, changed } = await apps.update(clientId, changes, session.change);
        return { ...appResult(updated), ...(!changed && { note: 'It was like this already.' }) };
      });
    });
}

function addStatus(app: CliCommand, status: App['status']): void {
  const disabling = status === 'disabled';
  const verb = disabling ? 'disable' : 'enable';
  const command = app
    .command(verb)
    .summary(disabling ? 'Switch an app off.' : 'Switch an app on again.')
    .description(
      disabling
        ? 'Switch an app off: its tokens and sign-ins stop at once. Asks first at a terminal; scripts and --json are not asked.'
        : 'Switch an app on again.',
    )
    .argument('<client_id>')
    .examples(`app ${verb} ${CLIENT_ID} --reason "Requested by the partner"`)
    .execute(async (session, clientId: string) => {
      const apps = session.get('AppsService');
      const { name } = await apps.show(clientId);
      if (disabling) await session.confirm(`Stop every token and sign-in of "${name}"?`);
      return appResult(await apps.changeStatus(clientId, status, session.change));
    });
  if (disabling) command.confirmed();
  else command.audited();
}
