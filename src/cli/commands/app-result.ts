import type { RegisteredApp } from '../../modules/oauth/clients/apps.service.js';
import type { App } from '../../modules/oauth/clients/client.entities.js';
import type { Result } from '../command.js';
import type { Session } from '../session.js';
import { table } from '../tables.js';
import { SECRET_SHOWN_ONCE } from './app-secret.js';

/** The members of `appJson`, without the secret. */
export const APP_MEMBERS =
  'client_id, name, type, redirect_uris, scopes, requires_pkce, publisher, verified, client_uri, logo_uri, policy_uri, tos_uri, status, posts_hidden, created_at';

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
    ['scopes', app.scopes.join(' ')],
    ['requires_pkce', String(app.requiresPkce)],
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
    scopes: app.scopes,
    requires_pkce: app.requiresPkce,
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
