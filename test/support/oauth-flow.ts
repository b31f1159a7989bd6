import type { User } from '../../src/modules/users/user.entity.js';
import { approve, exchange } from './browser.js';
import { json, type TokenBody } from './responses.js';
import type { TestApp, TestClient } from './test-app.js';

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

/** Whether an access token opens the API. @throws when the answer is neither 200 nor 401 */
export async function opens(app: TestApp, accessToken: string): Promise<boolean> {
  const { status } = await app.call(accessToken, 'GET', '/me');
  if (status !== 200 && status !== 401) throw new Error(`GET /me answered ${status}.`);
  return status === 200;
}
