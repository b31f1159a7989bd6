import type { RegisteredApp } from '../../modules/oauth/clients/apps.service.js';
import type { App } from '../../modules/oauth/clients/client.entities.js';
import type { CliCommand } from '../command.js';
import type { Result, Session } from '../session.js';
import { table } from '../tables.js';
import { SECRET_SHOWN_ONCE } from './app-secret.js';
import type { IdentityChanges } from '../../modules/oauth/clients/registration-values.js';
import { parseLogo, textUpTo } from '../option-values.js';

/** The members of `appJson`, without the secret. */
export const APP_MEMBERS =
  'client_id, name, type, redirect_uris, origins, scopes, requires_pkce, test, access_token_seconds, reference, publisher, verified, client_uri, logo_uri, policy_uri, tos_uri, status, posts_hidden, created_at';

export function appResult(session: Session, app: RegisteredApp, secret?: string): Result {
  const note = secret === undefined ? undefined : SECRET_SHOWN_ONCE;
  return { json: appJson(session, app, secret), text: table(appRows(session, app, secret)), note };
}

/** The lines of the registration, each with its name and value. */
export function appRows(session: Session, app: RegisteredApp, secret?: string): string[][] {
  return [
    ['client_id', app.clientId],
    ...(secret === undefined ? [] : [['client_secret', secret]]),
    ['name', app.name],
    ['type', app.kind],
    ...app.redirectUris.map((uri, index) => [index === 0 ? 'redirect_uris' : '', uri]),
    ...app.origins.map((origin, index) => [index === 0 ? 'origins' : '', origin]),
    ['scopes', app.scopes.join(' ')],
    ['requires_pkce', String(app.requiresPkce)],
    ...(app.test ? [['test', 'true']] : []),
    ...(app.accessTokenSeconds === null
      ? []
      : [['access_token_seconds', String(app.accessTokenSeconds)]]),
    ...(app.reference === null ? [] : [['reference', app.reference]]),
    ...Object.entries(identityJson(session, app)).flatMap(([name, value]) =>
      value === null ? [] : [[name, String(value)]],
    ),
    ['status', statusOf(app)],
    ['posts', app.postsHidden ? 'hidden' : 'shown'],
    ['created_at', session.time(app.createdAt)],
  ];
}

/** Members that RFC 6749 or RFC 7591 define have their names. */
export function appJson(session: Session, app: RegisteredApp, secret?: string): object {
  return {
    client_id: app.clientId,
    ...(secret !== undefined && { client_secret: secret }),
    name: app.name,
    type: app.kind,
    redirect_uris: app.redirectUris,
    origins: app.origins,
    scopes: app.scopes,
    requires_pkce: app.requiresPkce,
    test: app.test,
    access_token_seconds: app.accessTokenSeconds,
    reference: app.reference,
    ...identityJson(session, app),
    status: statusOf(app),
    posts_hidden: app.postsHidden,
    created_at: app.createdAt.toISOString(),
  };
}

function identityJson(
  session: Session,
  app: RegisteredApp,
): Record<string, string | boolean | null> {
  const { publicUrl } = session.get('AppConfig');
  return {
    publisher: app.publisher,
    verified: app.isVerified,
    client_uri: app.homepageUrl,
    logo_uri: app.logoHash && `${publicUrl}/assets/app-logos/${app.clientId}/${app.logoHash}`,
    policy_uri: app.privacyUrl,
    tos_uri: app.termsUrl,
  };
}

export function statusOf({ enabled }: RegisteredApp): App['status'] {
  return enabled ? 'enabled' : 'disabled';
}

/** False removes a value. */
export interface IdentityOptions {
  publisher?: string | false;
  homepage?: string | false;
  privacyUrl?: string | false;
  termsUrl?: string | false;
  logo?: Buffer | false;
  verified?: boolean;
}

/** The name of each option, with what `--no-` does. */
const REMOVALS = {
  publisher: 'remove the publisher',
  homepage: 'remove the homepage',
  'privacy-url': 'remove the privacy policy',
  'terms-url': 'remove the terms',
  logo: 'remove the logo',
  verified: 'mark the publisher as not verified',
};

/** The options that `app update` accepts, for its error without an option. */
export const IDENTITY_OPTIONS: readonly string[] = Object.keys(REMOVALS).map(
  (name) => `--[no-]${name}`,
);

export function addIdentityOptions(command: CliCommand): CliCommand {
  return command
    .option('--publisher <name>', 'company or person behind the app', textUpTo(60))
    .option('--homepage <url>', 'homepage of the app')
    .option('--privacy-url <url>', 'privacy policy of the app')
    .option('--terms-url <url>', 'terms of the app')
    .option(
      '--logo <file>',
      'PNG, JPEG or WebP file of at most 256 KiB and 1024 × 1024 pixels',
      parseLogo,
    )
    .option('--verified', 'mark the publisher as verified, after you have checked who it is');
}

/** Adds `--no-publisher` and so on. Call it after `addIdentityOptions`. */
export function addIdentityRemovals(command: CliCommand): CliCommand {
  for (const [name, description] of Object.entries(REMOVALS))
    command.option(`--no-${name}`, description);
  return command;
}

/** Only the given options. */
export function identityChanges(options: IdentityOptions): IdentityChanges {
  const { publisher, homepage, privacyUrl, termsUrl, logo, verified } = options;
  return {
    ...(publisher !== undefined && { publisher: publisher || null }),
    ...(homepage !== undefined && { homepageUrl: homepage === false ? null : homepage }),
    ...(privacyUrl !== undefined && { privacyUrl: privacyUrl === false ? null : privacyUrl }),
    ...(termsUrl !== undefined && { termsUrl: termsUrl === false ? null : termsUrl }),
    ...(logo !== undefined && { logo: logo || null }),
    ...(verified !== undefined && { isVerified: verified }),
  };
}

/** Undefined if the update has not ended the verification, or `--no-verified` has. */
export function verificationNote(
  { verified }: IdentityOptions,
  before: RegisteredApp,
  { clientId, publisher, isVerified }: RegisteredApp,
): string | undefined {
  if (verified !== undefined || isVerified || !before.isVerified) return undefined;
  return publisher === null
    ? 'The app is no longer verified, because it has no publisher.'
    : `The app is no longer verified, because its publisher changed. Check it and run: app update ${clientId} --verified`;
}
