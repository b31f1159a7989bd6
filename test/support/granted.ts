import type { User } from '../../src/modules/users/user.entity.js';
import { json, type TokenBody } from './json.js';
import type { TestApp, TestClient } from './test-app.js';
import { approve, exchange } from './visitor.js';

/** The tokens of a user who allowed this app what it asked for, through the pages and the token endpoint. */
export async function granted(app: TestApp, client: TestClient, user?: User): Promise<TokenBody> {
  const code = (await approve(app, user ?? (await app.addUser()), client)).get('code') ?? '';
  return json<TokenBody>(await exchange(app, client, code));
}

/** A form sent to an endpoint for apps, with the client's credentials in it. */
export function sendForm(
  app: TestApp,
  path: string,
  client: Pick<TestClient, 'clientId' | 'secret'> | undefined,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new URLSearchParams(form);
  if (client) body.append('client_id', client.clientId);
  if (client?.secret !== undefined) body.append('client_secret', client.secret);
  return app.fetch(path, { method: 'POST', headers, body });
}

/** Whether an access token opens the API. */
export async function opens(app: TestApp, accessToken: string): Promise<boolean> {
  return (await app.call(accessToken, 'GET', '/me')).status === 200;
}
