import type { RegisteredApp } from '../../modules/oauth/clients/apps.service.js';
import type { App } from '../../modules/oauth/clients/client.entities.js';
import type { QuotaAssignment } from '../../modules/quota/quota.service.js';
import { addAppSecretCommands, SECRET_SHOWN_ONCE } from './app-secret.js';
import type { CliCommand, Result } from '../command.js';
import { collect, parseMonthlyLimit, textUpTo } from '../option-values.js';
import { list, table } from '../tables.js';

function appResult(app: RegisteredApp, secret?: string): Result {
  const rows = [
    ['client_id', app.clientId],
    ...(secret === undefined ? [] : [['client_secret', secret]]),
    ['name', app.name],
    ['type', app.kind],
    ...app.redirectUris.map((uri, index) => [index === 0 ? 'redirect_uris' : '', uri]),
    ['scopes', app.scopes.join(' ')],
    ['requires_pkce', String(app.requiresPkce)],
    ['status', statusOf(app)],
    ['posts', app.postsHidden ? 'hidden' : 'shown'],
    ['created_at', app.createdAt.toISOString()],
  ];
  const note = secret === undefined ? undefined : SECRET_SHOWN_ONCE;
  return { json: appJson(app, secret), text: table(rows), note };
}

/** `client_id`, `client_secret` and `redirect_uris` are named as in RFC 6749 and RFC 7591. */
function appJson(app: RegisteredApp, secret?: string): object {
  return {
    client_id: app.clientId,
    ...(secret !== undefined && { client_secret: secret }),
    name: app.name,
    type: app.kind,
    redirect_uris: app.redirectUris,
    scopes: app.scopes,
    requires_pkce: app.requiresPkce,
    status: statusOf(app),
    posts_hidden: app.postsHidden,
    created_at: app.createdAt.toISOString(),
  };
}

function statusOf({ enabled }: RegisteredApp): App['status'] {
  return enabled ? 'enabled' : 'disabled';
}

const ALLOW_SIMILAR_NAME = [
  '--allow-similar-name',
  'allow a name that looks like that of another app',
] as const;
const CLIENT_ID = 'svc_app_01h455vb4pex5vsknk084sn02q';
const CREATE_EXAMPLE =
  'app create --name "Garden Share" --redirect-uri https://garden.example/callback --scope "profile.read posts.write"';

interface CreateOptions {
  name: string;
  redirectUri: string[];
  scope: string;
  public?: boolean;
  requirePkce?: boolean;
  allowSimilarName?: boolean;
  limit?: QuotaAssignment;
}

type UpdateOptions = Partial<Omit<CreateOptions, 'public' | 'limit'>>;

export function addAppCommands(program: CliCommand): void {
  const app = program
    .command('app')
    .description('Register, change, disable and enable apps.')
    .examples(CREATE_EXAMPLE, 'app list', `app disable ${CLIENT_ID}`);
  addCreate(app);
  addList(app);
  addShow(app);
  addUpdate(app);
  addDisable(app);
  addEnable(app);
  addAppSecretCommands(app);
}

function addCreate(app: CliCommand): void {
  app
    .command('create')
    .summary('Register an app.')
    .description('Register an app. Prints the client secret of a confidential app once.')
    .requiredOption('--name <name>', 'name to show on the consent page', textUpTo(200))
    .requiredOption(
      '--redirect-uri <uri>',
      'exact URI to return users to: https, http on loopback, or a private-use scheme such as com.example.app; repeatable',
      collect,
    )
    .requiredOption('--scope <scopes>', 'scopes that the app may request, separated by spaces')
    .option('--public', 'register a public app, such as a mobile app, without a client secret')
    .option('--require-pkce', 'require PKCE, as for every public app; recommended')
    .option(...ALLOW_SIMILAR_NAME)
    .option('--limit <posts>', 'posts per month, "unlimited" or "default"', parseMonthlyLimit)
    .acceptsReason()
    .examples(
      CREATE_EXAMPLE,
      'app create --public --name "Garden Phone" --redirect-uri com.example.garden:/callback --scope profile.read --json',
    )
    .execute(async (session, options: CreateOptions) => {
      const { name, redirectUri: redirectUris, scope, allowSimilarName, limit } = options;
      const requiresPkce = options.requirePkce;
      const kind = options.public === true ? 'public' : 'confidential';
      const quota = session.get('QuotaService');
      const { app: created, secret } = await session
        .get('AppsService')
        .register(
          { name, kind, redirectUris, scope, requiresPkce, allowSimilarName },
          session.change,
          async (tx, clientId) => {
            if (limit !== undefined)
              await quota.setInTransaction(tx, clientId, limit, session.change);
          },
        );
      return appResult(created, secret);
    });
}

function addList(app: CliCommand): void {
  app
    .command('list')
    .description('List all apps.')
    .examples('app list', 'app list --json')
    .execute(async (session) => {
      const apps = await session.get('AppsService').list();
      const rows = apps.map((one) => [one.clientId, one.kind, statusOf(one), one.name]);
      return {
        json: apps.map((one) => appJson(one)),
        text: list(['CLIENT_ID', 'TYPE', 'STATUS', 'NAME'], rows, session.width),
      };
    });
}

function addShow(app: CliCommand): void {
  app
    .command('show')
    .description('Show an app.')
    .argument('<client_id>')
    .examples(`app show ${CLIENT_ID}`)
    .execute(async (session, clientId: string) =>
      appResult(await session.get('AppsService').get(clientId)),
    );
}

function addUpdate(app: CliCommand): void {
  app
    .command('update')
    .summary('Change the registration of an app.')
    .description(
      'Change the name, redirect URIs or scopes of an app, or whether it requires PKCE. Each option replaces all of its current values. Authorization requests in progress fail if their redirect URI is removed, and lose scopes that are removed. Existing tokens lose them at once, and get them back if the app does. Removing a redirect URI or scope asks for confirmation.',
    )
    .argument('<client_id>')
    .option('--name <name>', 'new name', textUpTo(200))
    .option('--redirect-uri <uri>', 'replaces all redirect URIs; repeatable', collect)
    .option('--scope <scopes>', 'replaces all scopes; separated by spaces')
    .option('--require-pkce', 'reject authorization requests without code_challenge')
    .option('--no-require-pkce', 'make PKCE optional again; not for a public app')
    .option(...ALLOW_SIMILAR_NAME)
    .requiresConfirmation()
    .examples(
      `app update ${CLIENT_ID} --name "Garden Share"`,
      `app update ${CLIENT_ID} --redirect-uri https://garden.example/callback --redirect-uri https://garden.example/new`,
      `app update ${CLIENT_ID} --scope "profile.read posts.read" --reason "No longer publishes"`,
    )
    .action((clientId: string, options: UpdateOptions, command: CliCommand) => {
      const { name, redirectUri: redirectUris, scope, allowSimilarName } = options;
      const requiresPkce = options.requirePkce;
      if ((name ?? redirectUris ?? scope ?? requiresPkce) === undefined)
        return command.error(
          'error: give --name, --redirect-uri, --scope, --require-pkce or --no-require-pkce',
        );
      return command.start(async (session) => {
        const apps = session.get('AppsService');
        const before = await apps.get(clientId);
        const scopes: readonly string[] | undefined = scope?.split(' ');
        const removed = [
          ...before.redirectUris.filter((uri) => redirectUris?.includes(uri) === false),
          ...before.scopes.filter((one) => scopes?.includes(one) === false),
        ];
        if (removed.length > 0)
          await session.confirm(`Remove ${removed.join(' and ')} from "${before.name}"?`);
        const changes = { name, redirectUris, scope, requiresPkce, allowSimilarName };
        const { app: updated, changed } = await apps.update(clientId, changes, session.change);
        return { ...appResult(updated), ...(!changed && { note: 'No change.' }) };
      });
    });
}

interface DisableOptions {
  hidePosts?: boolean;
}

function addDisable(app: CliCommand): void {
  app
    .command('disable')
    .summary('Disable an app.')
    .description(
      'Disable an app. Its tokens and authorization requests are rejected immediately. Its posts stay unless --hide-posts is given, also for an app that is already disabled.',
    )
    .argument('<client_id>')
    .option('--hide-posts', 'also hide the public pages of its posts, until "app enable"')
    .requiresConfirmation()
    .examples(
      `app disable ${CLIENT_ID} --reason "Requested by the partner"`,
      `app disable ${CLIENT_ID} --hide-posts --reason "Publishes spam"`,
    )
    .execute(async (session, clientId: string, { hidePosts = false }: DisableOptions) => {
      const apps = session.get('AppsService');
      const { name } = await apps.get(clientId);
      const posts = hidePosts ? ', and hide the public pages of its posts' : '';
      await session.confirm(`Disable "${name}" and reject all its tokens${posts}?`);
      const options = { hidePosts };
      return appResult(await apps.changeStatus(clientId, 'disabled', session.change, options));
    });
}

function addEnable(app: CliCommand): void {
  app
    .command('enable')
    .summary('Enable an app.')
    .description(
      'Enable a disabled app. Its tokens become valid again unless they have expired. The public pages of its posts are shown again.',
    )
    .argument('<client_id>')
    .acceptsReason()
    .examples(`app enable ${CLIENT_ID} --reason "Requested by the partner"`)
    .execute(async (session, clientId: string) =>
      appResult(await session.get('AppsService').changeStatus(clientId, 'enabled', session.change)),
    );
}
