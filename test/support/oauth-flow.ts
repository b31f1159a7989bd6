import { createHash } from 'node:crypto';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { Browser, type Page, type Site } from './browser.js';
import { json, STATE, type TokenBody } from './responses.js';
import type { TestApp, TestClient } from './test-app.js';

/** The code verifier of RFC 7636, Appendix B. */
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

/** The path and query of an authorization request. Undefined parameters are omitted. */
export function authorizeLink(
  client: TestClient,
  parameters: Record<string, string | undefined> = {},
): string {
  const all = {
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: client.redirectUris[0],
    scope: client.scopes.join(' '),
    state: STATE,
    ...(client.kind === 'public' && { code_challenge: CHALLENGE, code_challenge_method: 'S256' }),
    ...parameters,
  };
  const query = Object.entries(all)
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  return `/oauth/authorize?${query}`;
}

/**
 * Signs the user in and approves `scopes` (default: all requested). Other properties of the last argument are parameters of the
 * authorization request. Returns the parameters of the redirect.
 */
export async function approve(
  app: Site,
  user: UserWithPhone,
  client: TestClient,
  {
    scopes,
    ...parameters
  }: { scopes?: string[] } & Record<string, string | string[] | undefined> = {},
): Promise<URLSearchParams> {
  const link = authorizeLink(client, parameters as Record<string, string | undefined>);
  const visitor = new Browser(app);
  const consent = await visitor.signIn(link, user);
  const requested = new URL(link, app.baseUrl).searchParams.get('scope')?.split(' ') ?? [];
  return redirectParameters(await visitor.allow(consent, scopes ?? requested));
}

/** The query parameters of a redirect to the app. */
export function redirectParameters({ location, html }: Page): URLSearchParams {
  if (location === null) throw new Error(`The page does not redirect:\n${html}`);
  return new URLSearchParams(location.slice(location.indexOf('?') + 1));
}

/** Sends a token request with the client's credentials in the form. `form` overrides them; undefined values omit a parameter. */
export function requestToken(
  app: Site,
  client: TestClient,
  form: Record<string, string | undefined>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const credentials = { client_id: client.clientId, client_secret: client.secret };
  const body = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...credentials, ...form }))
    if (value !== undefined) body.append(name, value);
  return app.fetch('/oauth/token', { method: 'POST', headers, body });
}

/** Exchanges an authorization code for tokens. `form` overrides the parameters; undefined values omit a parameter. */
export function exchange(
  app: Site,
  client: TestClient,
  code: string,
  form: Record<string, string | undefined> = {},
  headers?: Record<string, string>,
): Promise<Response> {
  const parameters = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: client.redirectUris[0],
    code_verifier: client.kind === 'public' ? VERIFIER : undefined,
  };
  return requestToken(app, client, { ...parameters, ...form }, headers);
}

/** Runs the whole flow: sign-in, consent and exchange. Returns the tokens. */
export async function obtainTokens(
  app: TestApp,
  client: TestClient,
  user?: UserWithPhone,
): Promise<TokenBody> {
  const code = (await approve(app, user ?? (await app.addUser()), client)).get('code') ?? '';
  return json<TokenBody>(await exchange(app, client, code));
}

/** Posts a form with the client's credentials in the body, or without credentials if `client` is undefined. */
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

/** Whether the API accepts an access token. @throws when the status is neither 200 nor 401 */
export async function isTokenAccepted(app: TestApp, accessToken: string): Promise<boolean> {
  const { status } = await app.call(accessToken, 'GET', '/me');
  if (status !== 200 && status !== 401) throw new Error(`GET /me returned ${status}.`);
  return status === 200;
}

/** Runs sign-in and consent. Returns the authorization code. */
export async function newCode(
  app: TestApp,
  client: TestClient,
  user?: UserWithPhone,
  parameters: Parameters<typeof approve>[3] = {},
): Promise<string> {
  return (await approve(app, user ?? (await app.addUser()), client, parameters)).get('code') ?? '';
}

/** Sends a refresh token with the client's credentials in the form. */
export function sendRefresh(
  app: Site,
  client: TestClient,
  refresh_token: string | undefined,
  form: Record<string, string | undefined> = {},
  headers?: Record<string, string>,
): Promise<Response> {
  return requestToken(
    app,
    client,
    { grant_type: 'refresh_token', refresh_token, ...form },
    headers,
  );
}
