import type { Answer } from '../../../command-line/command.js';
import { table } from '../../../command-line/tables.js';
import type { App } from './app.entity.js';
import type { RegisteredApp } from './apps.service.js';

/** What goes with a client secret wherever it is printed. */
export const SHOWN_ONCE =
  'The client secret is shown this once and cannot be read again. Keep it where only the app can read it.';

/** An app for an operator, with its client secret where it was just made. */
export function appAnswer(app: RegisteredApp, secret?: string): Answer {
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
  return {
    json: appJson(app, secret),
    text: table(rows),
    ...(secret !== undefined && { remark: SHOWN_ONCE }),
  };
}

/** The members are named as in RFC 6749 and RFC 7591. */
export function appJson(app: RegisteredApp, secret?: string): object {
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

export function statusOf({ enabled }: RegisteredApp): App['status'] {
  return enabled ? 'enabled' : 'disabled';
}
