import type { QuotaAssignment } from '../../modules/quota/quota.service.js';
import type { CliCommand } from '../command.js';
import { collect, parseMonthlyLimit, textUpTo } from '../option-values.js';
import { list } from '../tables.js';
import {
  addIdentityOptions,
  addIdentityRemovals,
  IDENTITY_OPTIONS,
  identityChanges,
  type IdentityOptions,
  verificationNote,
} from './app-identity.js';
import { APP_MEMBERS, appJson, appResult, statusOf } from './app-result.js';
import { addAppRevokeAllCommand } from './app-revoke-all.js';
import { addAppSecretCommands } from './app-secret.js';
import { addAppShowCommand } from './app-show.js';

const ALLOW_SIMILAR_NAME = [
  '--allow-similar-name',
  'allow a name that looks like that of another app',
] as const;
const CLIENT_ID = 'svc_app_01h455vb4pex5vsknk084sn02q';
const CREATE_EXAMPLE =
  'app create --name "Garden Share" --redirect-uri https://garden.example/callback --scope "profile.read posts.write"';

interface CreateOptions extends IdentityOptions {
  name?: string;
  redirectUri?: string[];
  scope?: string;
  docs?: boolean;
  public?: boolean;
  requirePkce?: boolean;
  allowSimilarName?: boolean;
  limit?: QuotaAssignment;
}

type UpdateOptions = Omit<CreateOptions, 'public' | 'limit' | 'docs'>;

export function addAppCommands(program: CliCommand): void {
  const app = program
    .command('app')
    .description('Register, change, disable and enable apps, and revoke their access.')
    .examples(CREATE_EXAMPLE, 'app list', `app disable ${CLIENT_ID}`);
  addCreate(app);
  addList(app);
  addAppShowCommand(app);
  addUpdate(app);
  addDisable(app);
  addEnable(app);
  addAppRevokeAllCommand(app);
  addAppSecretCommands(app);
}

function addCreate(app: CliCommand): void {
  const create = app
    .command('create')
    .summary('Register an app.')
    .description('Register an app. Prints the client secret of a confidential app once.')
    .option('--name <name>', 'name to show on the consent page', textUpTo(60))
    .option(
      '--redirect-uri <uri>',
      'exact URI to return users to: https, http on loopback, or a private-use scheme such as com.example.app; repeatable',
      collect,
    )
    .option('--scope <scopes>', 'scopes that the app may request, separated by spaces')
    .option(
      '--docs',
      'register the public app with which partners try the API at /docs, with its redirect URI; --name and --scope are optional then',
    )
    .option('--public', 'register a public app, such as a mobile app, without a client secret')
    .option('--require-pkce', 'require PKCE, as for every public app; recommended')
    .option(...ALLOW_SIMILAR_NAME);
  addIdentityOptions(create)
    .option('--limit <posts>', 'posts per month, "unlimited" or "default"', parseMonthlyLimit)
    .acceptsReason()
    .printsJson(`{${APP_MEMBERS}, client_secret?}`)
    .examples(
      CREATE_EXAMPLE,
      'app create --public --name "Garden Phone" --redirect-uri com.example.garden:/callback --scope profile.read --json',
      'app create --docs',
    )
    .action((options: CreateOptions, command: CliCommand) => {
      const { docs = false, redirectUri, limit, allowSimilarName } = options;
      if (docs && redirectUri)
        return command.error('error: --docs sets the redirect URI: remove --redirect-uri');
      for (const flag of ['name', 'redirectUri', 'scope'] as const)
        if (!docs && options[flag] === undefined)
          return command.error(`error: required option '${REQUIRED_FLAGS[flag]}' not specified`);
      return command.start(async (session) => {
        const apps = session.get('AppsService');
        const kind = options.public === true ? ('public' as const) : ('confidential' as const);
        const values = docs
          ? await apps.docsRegistration()
          : { name: '', scope: '', kind, redirectUris: redirectUri ?? [] };
        const quota = session.get('QuotaService');
        const { app: created, secret } = await apps.register(
          {
            ...values,
            name: options.name ?? values.name,
            scope: options.scope ?? values.scope,
            requiresPkce: options.requirePkce,
            allowSimilarName,
            ...identityChanges(options),
          },
          session.change,
          async (tx, clientId) => {
            if (limit !== undefined)
              await quota.setInTransaction(tx, clientId, limit, session.change);
          },
        );
        return appResult(session, created, secret);
      });
    });
}

/** Unless `--docs` sets them. */
const REQUIRED_FLAGS = {
  name: '--name <name>',
  redirectUri: '--redirect-uri <uri>',
  scope: '--scope <scopes>',
};

function addList(app: CliCommand): void {
  app
    .command('list')
    .description('List all apps.')
    .printsJson(`[{${APP_MEMBERS}}]`)
    .examples('app list', 'app list --json')
    .execute(async (session) => {
      const apps = await session.get('AppsService').list();
      const rows = apps.map((one) => [one.clientId, one.kind, statusOf(one), one.name]);
      return {
        json: apps.map((one) => appJson(session, one)),
        text: list(['CLIENT_ID', 'TYPE', 'STATUS', 'NAME'], rows, {
          width: session.width,
          none: 'There are no apps.',
        }),
      };
    });
}

/** The options of `app update` that change something. */
const UPDATE_OPTIONS = [
  '--name',
  '--redirect-uri',
  '--scope',
  '--[no-]require-pkce',
  ...IDENTITY_OPTIONS,
];

function addUpdate(app: CliCommand): void {
  const update = app
    .command('update')
    .summary('Change the registration of an app.')
    .description(
      'Change the registration of an app: its name, redirect URIs, scopes, and what users see of it. Each option replaces all of its current values. Authorization requests in progress fail if their redirect URI is removed, and lose scopes that are removed. Existing tokens lose these scopes at once, and regain them if the app does. Changing the publisher ends the verification, unless you add --verified.',
    )
    .argument('<client_id>')
    .option('--name <name>', 'new name', textUpTo(60))
    .option('--redirect-uri <uri>', 'replaces all redirect URIs; repeatable', collect)
    .option('--scope <scopes>', 'replaces all scopes; separated by spaces')
    .option('--require-pkce', 'reject authorization requests without code_challenge')
    .option('--no-require-pkce', 'make PKCE optional again; not for a public app')
    .option(...ALLOW_SIMILAR_NAME);
  addIdentityRemovals(addIdentityOptions(update))
    .requiresConfirmation('Removing a redirect URI or scope')
    .printsJson(`{${APP_MEMBERS}}`)
    .examples(
      `app update ${CLIENT_ID} --name "Garden Share"`,
      `app update ${CLIENT_ID} --redirect-uri https://garden.example/callback --redirect-uri https://garden.example/new`,
      `app update ${CLIENT_ID} --scope "profile.read posts.read" --reason "No longer publishes"`,
    )
    .action((clientId: string, options: UpdateOptions, command: CliCommand) => {
      const { name, redirectUri: redirectUris, scope, allowSimilarName } = options;
      const requiresPkce = options.requirePkce;
      const changes = {
        name,
        redirectUris,
        scope,
        requiresPkce,
        ...identityChanges(options),
      };
      if (Object.values(changes).every((value) => value === undefined))
        return command.error(`error: give at least one of ${UPDATE_OPTIONS.join(', ')}`);
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
        const { app: updated, changed } = await apps.update(
          clientId,
          { ...changes, allowSimilarName },
          session.change,
        );
        const note = changed ? verificationNote(options, before, updated) : 'No change.';
        return { ...appResult(session, updated), note };
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
      'Disable an app. Its tokens and authorization requests are rejected immediately, until "app enable"; "app revoke-all" ends the tokens for good. Its posts stay public unless you add --hide-posts, which also works on a disabled app.',
    )
    .argument('<client_id>')
    .option('--hide-posts', 'also hide the public pages of its posts, until "app enable"')
    .requiresConfirmation()
    .printsJson(`{${APP_MEMBERS}}`)
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
      const disabled = await apps.changeStatus(clientId, 'disabled', session.change, options);
      return appResult(session, disabled);
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
    .printsJson(`{${APP_MEMBERS}}`)
    .examples(`app enable ${CLIENT_ID} --reason "Requested by the partner"`)
    .execute(async (session, clientId: string) =>
      appResult(
        session,
        await session.get('AppsService').changeStatus(clientId, 'enabled', session.change),
      ),
    );
}
