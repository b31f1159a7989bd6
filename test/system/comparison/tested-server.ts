import { authorizeLink, VERIFIER } from '../../support/oauth-flow.js';
import { json, type TokenBody } from '../../support/responses.js';
import type { TestClient } from '../../support/test-app.js';

/** The apps that both servers have registered, with the same ids and secrets. */
export interface Apps {
  /** Confidential. It sends its secret with HTTP Basic or in the body. */
  readonly garden: TestClient;
  /** Another confidential app. */
  readonly library: TestClient;
  /** Public, registered for `profile.read posts.read` and a loopback redirect. */
  readonly pocket: TestClient;
}

/** Form parameters by name. Undefined values are omitted; a list is a repeated parameter. */
export type FormParameters = Record<string, string | string[] | undefined>;

/** One of the two compared servers. */
export interface TestedServer {
  /** The issuer. */
  readonly baseUrl: string;
  readonly apps: Apps;
  /** Sends a request without following redirects. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Follows an authorization link as a user, signs in and decides. Returns the redirect to the app. */
  decide(link: string, decision: 'approve' | 'deny'): Promise<Response>;
  /** Moves the clock forward. */
  advance(seconds: number): void;
}

/** A request that the test sends to both servers, to compare the responses. */
export interface Case {
  readonly name: string;
  /** The number of a rule of docs/reliability.md, such as `O12`, that equal outcomes confirm. */
  readonly proves?: string;
  send(server: TestedServer): Promise<Response>;
  /** Selects the compared parts of a JSON body; by default, the names of its members. */
  read?(body: Record<string, unknown>, server: TestedServer): Record<string, unknown>;
}

export function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}

/** Posts a form with the app's credentials. */
export function post(
  server: TestedServer,
  path: string,
  app: TestClient,
  form: FormParameters,
): Promise<Response> {
  const credentials = { client_id: app.clientId, client_secret: app.secret };
  return postForm(server, path, { ...credentials, ...form });
}

/** Posts a form with only these parameters, without the credentials of an app. */
export function postForm(
  server: TestedServer,
  path: string,
  form: FormParameters,
  authorization?: string,
): Promise<Response> {
  const body = new URLSearchParams();
  for (const [name, values] of Object.entries(form))
    for (const value of [values ?? []].flat()) body.append(name, value);
  const headers = authorization === undefined ? undefined : { authorization };
  return server.fetch(path, { method: 'POST', headers, body });
}

/** Lets a user allow access, and returns the code. `parameters` replace those of the app's authorization link. */
export async function newCode(
  server: TestedServer,
  app: TestClient,
  parameters: Record<string, string | undefined> = {},
): Promise<string> {
  const response = await server.decide(authorizeLink(app, parameters), 'approve');
  const value = new URL(response.headers.get('location') ?? '').searchParams.get('code');
  if (value === null) throw new Error(`The response of ${server.baseUrl} has no code.`);
  return value;
}

/** The form of a code exchange, without credentials. */
export function exchangeForm(app: TestClient, code: string): FormParameters {
  return {
    grant_type: 'authorization_code',
    code,
    redirect_uri: app.redirectUris[0],
    ...(app.kind === 'public' && { code_verifier: VERIFIER }),
  };
}

export function refreshForm(refreshToken: string): FormParameters {
  return { grant_type: 'refresh_token', refresh_token: refreshToken };
}

/** Lets a user allow access, and exchanges the code for tokens. */
export async function newTokens(
  server: TestedServer,
  app: TestClient,
  parameters: Record<string, string | undefined> = {},
): Promise<TokenBody> {
  const form = exchangeForm(app, await newCode(server, app, parameters));
  return json<TokenBody>(await post(server, '/oauth/token', app, form));
}

/** Sends a refresh, which must succeed, and returns the new tokens. */
export async function mustRefresh(
  server: TestedServer,
  app: TestClient,
  refreshToken: string,
): Promise<TokenBody> {
  const response = await post(server, '/oauth/token', app, refreshForm(refreshToken));
  if (response.status !== 200) throw new Error(`${server.baseUrl} rejected the refresh token.`);
  return json<TokenBody>(response);
}
