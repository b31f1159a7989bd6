import { Option } from 'commander';
import type { CreatedApp, RegisteredApp } from '../../modules/oauth/clients/apps.service.js';
import type { App } from '../../modules/oauth/clients/client.entities.js';
import type {
  EffectiveQuota,
  QuotaAssignment,
  QuotaStatus,
} from '../../modules/quota/quota.service.js';
import { type CliCommand, EXAMPLE_APP } from '../command.js';
import { collect, countUpTo, parseMonthlyLimit, textUpTo } from '../option-values.js';
import { formatNumber, membersOf, table } from '../tables.js';
import {
  addIdentityOptions,
  addIdentityRemovals,
  IDENTITY_OPTIONS,
  identityChanges,
  type IdentityOptions,
  verificationNote,
  APP_MEMBERS,
  appJson,
  appResult,
  statusOf,
  appRows,
} from './app-result.js';
import { addAppReset } from './app-reset.js';
import { addAppSecretCommands } from './app-secret.js';
import { addAppWebhookCommands } from './app-webhook.js';
import type { Result, Session } from '../session.js';
import { QUOTA_MEMBERS } from './quota.js';

const ALLOW_SIMILAR_NAME = [
  '--allow-similar-name',
  'allow a name that looks like that of another app, of its publisher or of the network, or like the badge of verified apps',
] as const;
/** The `Origin` that the browser, web view or extension sends. */
const ORIGIN_FLAG = '--origin <origin>';
const REFERENCE = [
  '--reference <text>',
  'your own reference of the partner, such as a customer number; users do not see it',
  textUpTo(100),
] as const;
/** The lifetime that real apps have by default. */
const MAX_ACCESS_TOKEN_SECONDS = 3600;
const CREATE_EXAMPLE =
  'app create --name "Garden Share" --redirect-uri https://garden.example/callback --scope "profile.read posts.write"';

interface CreateOptions extends IdentityOptions {
  name?: string;
  redirectUri?: string[];
  origin?: string[];
  scope?: string;
  docs?: boolean;
  public?: boolean;
  requirePkce?: boolean;
  test?: boolean;
  accessTokenSeconds?: number;
  /** False removes it. */
  reference?: string | false;
  allowSimilarName?: boolean;
  limit?: QuotaAssignment;
}

interface UpdateOptions extends Omit<
  CreateOptions,
  'public' | 'limit' | 'docs' | 'origin' | 'test' | 'accessTokenSeconds'
> {
  /** False removes all. */
  origin?: string[] | false;
}

export function addAppCommands(program: CliCommand): void {
  const app = program
    .command('app')
    .description('Register, change, disable and enable apps, and revoke their access.')
    .examples(CREATE_EXAMPLE, 'app list', `app disable ${EXAMPLE_APP}`);
  addCreate(app);
  addList(app);
  addShow(app);
  addUpdate(app);
  addDisable(app);
  addEnable(app);
  addRevokeAll(app);
  addAppReset(app);
  addAppSecretCommands(app);
  addAppWebhookCommands(app);
}

function addCreate(app: CliCommand): void {
  const create = app
    .command('create')
    .summary('Register an app.')
    .description(
      'Register an app. Prints the client secret of a confidential app once. If it cannot be printed, no app is registered.',
    )
    .option('--name <name>', 'name to show on the consent page', textUpTo(60))
    .option(
      '--redirect-uri <uri>',
      'exact URI to return users to: https, http on loopback, or a private-use scheme such as com.example.app; repeatable',
      collect,
    )
    .option(
      ORIGIN_FLAG,
      'origin of a public app besides those of its redirect URIs: https, http on loopback, or the scheme of a web view or extension, such as capacitor://localhost; repeatable',
      collect,
    )
    .option('--scope <scopes>', 'scopes that the app may request, separated by spaces')
    .option(
      '--docs',
      'register the public app with which partners try the API at /docs, with its redirect URI; --name and --scope are optional then',
    )
    .option('--public', 'register a public app, such as a mobile app, without a client secret')
    .option('--require-pkce', 'require PKCE, as for every public app; recommended')
    .option(
      '--test',
      'register a test app, which only test members can authorize ("user add --test"); its client_id begins svc_app_test_',
    )
    .option(
      '--access-token-seconds <seconds>',
      `lifetime of the access tokens of a test app, at most ${MAX_ACCESS_TOKEN_SECONDS}, so that it meets expired ones`,
      countUpTo(MAX_ACCESS_TOKEN_SECONDS),
    )
    .option(...REFERENCE)
    .option(...ALLOW_SIMILAR_NAME);
  addIdentityOptions(create)
    .option('--limit <posts>', 'posts per month, "unlimited" or "default"', parseMonthlyLimit)
    .acceptsReason()
    .printsJson(`{${APP_MEMBERS}, plan, limit, client_secret?}`)
    .examples(
      CREATE_EXAMPLE,
      'app create --public --name "Garden Phone" --redirect-uri com.example.garden:/callback --scope profile.read --json',
      'app create --docs',
      `${CREATE_EXAMPLE} --test --limit 3 --access-token-seconds 60`,
    )
    .action((options: CreateOptions, command: CliCommand) => {
      const { docs = false, redirectUri, limit, allowSimilarName } = options;
      if (docs && redirectUri)
        return command.error('error: --docs sets the redirect URI: remove --redirect-uri');
      if (options.accessTokenSeconds !== undefined && !options.test)
        return command.error('error: use --access-token-seconds only with --test');
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
        let assigned = quota.effectiveQuota(null);
        await apps.register(
          {
            ...values,
            name: options.name ?? values.name,
            scope: options.scope ?? values.scope,
            origins: options.origin,
            requiresPkce: options.requirePkce,
            test: options.test,
            accessTokenSeconds: options.accessTokenSeconds,
            reference: options.reference || null,
            allowSimilarName,
            ...identityChanges(options),
          },
          session.change,
          {
            also: async (tx, clientId) => {
              if (limit !== undefined)
                assigned = await quota.setInTransaction(tx, clientId, limit, session.change);
            },
            show: (created) => session.show(creationResult(session, created, assigned)),
          },
        );
      });
    });
}

function creationResult(
  session: Session,
  { app, secret }: CreatedApp,
  { plan, limit }: EffectiveQuota,
): Result {
  const { json, text, note } = appResult(session, app, secret);
  const quota = table([
    ['plan', plan],
    ['limit', limit === null ? 'unlimited' : `${formatNumber(limit, 'post')} per month`],
  ]);
  return { json: { ...json, plan, limit }, text: `${text}\n${quota}`, note };
}

/** Unless `--docs` sets them. */
const REQUIRED_FLAGS = {
  name: '--name <name>',
  redirectUri: '--redirect-uri <uri>',
  scope: '--scope <scopes>',
};

interface ListOptions {
  name?: string;
  publisher?: string;
  reference?: string;
  type?: App['kind'];
  status?: App['status'];
  verified?: boolean;
  test?: boolean;
}

function addList(app: CliCommand): void {
  app
    .command('list')
    .summary('List apps.')
    .description('List all apps, or those that match all of the given options.')
    .option('--name <text>', 'apps whose name contains this text, in any case')
    .option('--publisher <text>', 'apps whose publisher contains this text, in any case')
    .option('--reference <text>', 'apps with exactly this reference')
    .addOption(new Option('--type <type>', 'apps of this type').choices(['confidential', 'public']))
    .addOption(
      new Option('--status <status>', 'apps with this status').choices(['enabled', 'disabled']),
    )
    .option('--verified', 'apps with a verified publisher')
    .option('--no-verified', 'apps without a verified publisher')
    .option('--test', 'test apps')
    .option('--no-test', 'apps that are no test apps')
    .printsJson(`[{${APP_MEMBERS}}]`)
    .examples(
      'app list',
      'app list --status disabled',
      'app list --publisher "Garden Ltd" --no-verified --json',
    )
    .execute(async (session, options: ListOptions) => {
      const all = await session.get('AppsService').list();
      const apps = all.filter((one) => matches(one, options));
      const rows = apps.map((one) => [one.clientId, one.kind, statusOf(one), one.name]);
      return {
        json: apps.map((one) => appJson(session, one)),
        text: session.list(
          ['CLIENT_ID', 'TYPE', 'STATUS', 'NAME'],
          rows,
          all.length === 0 ? 'There are no apps.' : 'No app matches.',
        ),
      };
    });
}

function contains(text: string | null, part: string): boolean {
  return (text ?? '').toLowerCase().includes(part.toLowerCase());
}

function matches(app: RegisteredApp, options: ListOptions): boolean {
  const { name = '', publisher = '', reference, type, status, verified, test } = options;
  return (
    contains(app.name, name) &&
    contains(app.publisher, publisher) &&
    [undefined, app.reference].includes(reference) &&
    [undefined, app.kind].includes(type) &&
    [undefined, statusOf(app)].includes(status) &&
    [undefined, app.isVerified].includes(verified) &&
    [undefined, app.test].includes(test)
  );
}

/** The options of `app update` that change something. */
const UPDATE_OPTIONS = [
  '--name',
  '--redirect-uri',
  '--[no-]origin',
  '--scope',
  '--[no-]require-pkce',
  '--[no-]reference',
  ...IDENTITY_OPTIONS,
];

function addUpdate(app: CliCommand): void {
  const update = app
    .command('update')
    .summary('Change the registration of an app.')
    .description(
      'Change the registration of an app: its name, redirect URIs, origins, scopes, and what users see of it. Each option replaces all of its current values. Authorization requests in progress fail if their redirect URI is removed, and lose scopes that are removed. Existing tokens lose these scopes at once, and regain them if the app does. Changing the publisher ends the verification, unless you add --verified.',
    )
    .argument('<client_id>')
    .option('--name <name>', 'new name', textUpTo(60))
    .option('--redirect-uri <uri>', 'replaces all redirect URIs; repeatable', collect)
    .option(ORIGIN_FLAG, 'replaces all origins of a public app; repeatable', collect)
    .option('--no-origin', 'remove all origins')
    .option('--scope <scopes>', 'replaces all scopes; separated by spaces')
    .option('--require-pkce', 'reject authorization requests without code_challenge')
    .option('--no-require-pkce', 'make PKCE optional again; not for a public app')
    .option(...REFERENCE)
    .option('--no-reference', 'remove the reference')
    .option(...ALLOW_SIMILAR_NAME);
  addIdentityRemovals(addIdentityOptions(update))
    .requiresConfirmation('Removing a redirect URI, origin or scope')
    .printsJson(`{${APP_MEMBERS}}`)
    .examples(
      `app update ${EXAMPLE_APP} --name "Garden Share"`,
      `app update ${EXAMPLE_APP} --redirect-uri https://garden.example/callback --redirect-uri https://garden.example/new`,
      `app update ${EXAMPLE_APP} --scope "profile.read posts.read" --reason "No longer publishes"`,
    )
    .action((clientId: string, options: UpdateOptions, command: CliCommand) => {
      const { name, redirectUri: redirectUris, scope, allowSimilarName } = options;
      const { requirePkce: requiresPkce, reference } = options;
      const origins = options.origin === false ? [] : options.origin;
      const changes = {
        name,
        redirectUris,
        origins,
        scope,
        requiresPkce,
        reference: reference === false ? null : reference,
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
          ...before.origins.filter((origin) => origins?.includes(origin) === false),
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
    .acceptsDryRun('print the number of users and grants that lose access, but change nothing')
    .requiresConfirmation()
    .printsJson(`{${APP_MEMBERS}, dry_run, users?, grants?}`)
    .examples(
      `app disable ${EXAMPLE_APP} --dry-run`,
      `app disable ${EXAMPLE_APP} --reason "Requested by the partner"`,
      `app disable ${EXAMPLE_APP} --hide-posts --reason "Publishes spam"`,
    )
    .execute(async (session, clientId: string, { hidePosts = false }: DisableOptions) => {
      const apps = session.get('AppsService');
      const found = await apps.get(clientId);
      if (session.isDryRun) return disablePreview(session, found, hidePosts);
      const { name } = found;
      const posts = hidePosts ? ', and hide the public pages of its posts' : '';
      await session.confirm(`Disable "${name}" and reject all its tokens${posts}?`);
      const options = { hidePosts };
      const disabled = await apps.changeStatus(clientId, 'disabled', session.change, options);
      const { json, text } = appResult(session, disabled);
      return { json: { ...json, dry_run: false }, text };
    });
}

async function disablePreview(
  session: Session,
  app: RegisteredApp,
  hidePosts: boolean,
): Promise<Result> {
  const { clientId } = app;
  const { grants, users } = await session
    .get('GrantReader')
    .count(clientId, 'active', countProgress(session));
  const count = `${formatNumber(grants, 'active grant')} of ${formatNumber(users, 'user')}`;
  const posts = hidePosts && !app.postsHidden ? ', and hide the public pages of its posts' : '';
  const tokens = `Would disable "${app.name}" and reject the tokens of ${count}${posts}.`;
  return {
    json: { ...appJson(session, app), dry_run: true, users, grants },
    text: app.enabled
      ? tokens
      : `"${app.name}" is already disabled.${posts && ' Would hide the public pages of its posts.'}`,
  };
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
    .examples(`app enable ${EXAMPLE_APP} --reason "Requested by the partner"`)
    .execute(async (session, clientId: string) =>
      appResult(
        session,
        await session.get('AppsService').changeStatus(clientId, 'enabled', session.change),
      ),
    );
}

const REVOKE_ALL = `app revoke-all ${EXAMPLE_APP}`;

function addRevokeAll(app: CliCommand): void {
  app
    .command('revoke-all')
    .summary('Revoke all grants of an app, of all users.')
    .description(
      'Revoke all grants of all users to an app, with their codes and tokens. This is permanent: "app enable" does not restore them. Includes grants whose tokens have expired, which "grant list --all" shows. Users can authorize the app again; run "app disable" first to prevent that. If interrupted, run the command again.',
    )
    .argument('<client_id>')
    .acceptsDryRun('print the number of users and grants, but revoke nothing')
    .requiresConfirmation()
    .printsJson('{client_id, dry_run, users, grants}')
    .examples(
      `${REVOKE_ALL} --dry-run`,
      `${REVOKE_ALL} --reason "Its tokens have leaked"`,
      `${REVOKE_ALL} --yes --json`,
    )
    .execute(async (session, clientId: string) => {
      const dryRun = session.isDryRun;
      const { name } = await session.get('AppsService').get(clientId);
      const { grants, users } = await session
        .get('GrantReader')
        .count(clientId, 'not ended', countProgress(session));
      const json = { client_id: clientId, dry_run: dryRun, users };
      const count = `${formatNumber(grants, 'grant')} of ${formatNumber(users, 'user')}`;
      if (dryRun) return { json: { ...json, grants }, text: `Would revoke ${count}.` };
      if (grants > 0) await session.confirm(`Revoke ${count} to "${name}"?`);
      // Even without a grant above: a user may have authorized the app meanwhile.
      const revoked = await session
        .get('GrantsService')
        .revokeForApp(clientId, session.change, (done) =>
          session.progress(`Revoked ${done} of ${formatNumber(grants, 'grant')}`),
        );
      return {
        json: { ...json, grants: revoked },
        text: `Revoked ${formatNumber(revoked, 'grant')} to ${clientId}.`,
      };
    });
}

function addShow(app: CliCommand): void {
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
function countProgress(session: Session): (read: number) => void {
  return (read) => session.progress(`Read ${formatNumber(read, 'grant')}`);
}
