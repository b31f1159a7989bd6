import { authorizeLink, VERIFIER } from '../../support/oauth-flow.js';
import { json, type TokenBody } from '../../support/responses.js';
import type { TestClient } from '../../support/test-app.js';

/** What both servers have registered, under the same ids and secrets. */
export interface Apps {
  /** Confidential, with HTTP Basic and the secret in the body. */
  readonly garden: TestClient;
  /** Another confidential app. */
  readonly library: TestClient;
  /** Public, registered for `profile.read posts.read` and a loopback redirect. */
  readonly pocket: TestClient;
}

/** Parameters by name; undefined ones are left out, and a list is a repeated parameter. */
export type Parameters = Record<string, string | string[] | undefined>;

/** A server under comparison: ours, or the one that ours is compared with. */
export interface Party {
  /** The issuer. */
  readonly baseUrl: string;
  readonly apps: Apps;
  /** Redirects are answers here, not followed. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** A user follows the app's link, signs in and decides; the answer is what sends the browser back. */
  decide(link: string, decision: 'approve' | 'deny'): Promise<Response>;
  /** Lets so many seconds pass. */
  advance(seconds: number): void;
}

/** One request that both servers get. */
export interface Row {
  readonly name: string;
  /** The assertions of the design that an agreement confirms, such as `O12`. */
  readonly proves?: string;
  ask(party: Party): Promise<Response>;
  /** What of a JSON body is compared in place of its members' names. */
  read?(body: Record<string, unknown>, party: Party): Record<string, unknown>;
}

export function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}

/** A form with the app's credentials in it. */
export function post(
  party: Party,
  path: string,
  app: TestClient,
  form: Parameters,
): Promise<Response> {
  const credentials = { client_id: app.clientId, client_secret: app.secret };
  return postAs(party, path, { ...credentials, ...form });
}

/** A form with just these parameters. */
export function postAs(
  party: Party,
  path: string,
  form: Parameters,
  authorization?: string,
): Promise<Response> {
  const body = new URLSearchParams();
  for (const [name, values] of Object.entries(form))
    for (const value of [values ?? []].flat()) body.append(name, value);
  const headers = authorization === undefined ? undefined : { authorization };
  return party.fetch(path, { method: 'POST', headers, body });
}

/** A code as the consent of a user gives it; `parameters` replace those of the app's link. */
export async function code(
  party: Party,
  app: TestClient,
  parameters: Record<string, string | undefined> = {},
): Promise<string> {
  const answer = await party.decide(authorizeLink(app, parameters), 'approve');
  const given = new URL(answer.headers.get('location') ?? '').searchParams.get('code');
  if (given === null) throw new Error(`There is no code in the answer of ${party.baseUrl}.`);
  return given;
}

/** What the exchange of a code needs beside credentials. */
export function exchangeForm(app: TestClient, value: string): Parameters {
  return {
    grant_type: 'authorization_code',
    code: value,
    redirect_uri: app.redirectUris[0],
    ...(app.kind === 'public' && { code_verifier: VERIFIER }),
  };
}

export function refreshForm(value: string): Parameters {
  return { grant_type: 'refresh_token', refresh_token: value };
}

/** The tokens of a new consent. */
export async function tokens(
  party: Party,
  app: TestClient,
  parameters: Record<string, string | undefined> = {},
): Promise<TokenBody> {
  const form = exchangeForm(app, await code(party, app, parameters));
  return json<TokenBody>(await post(party, '/oauth/token', app, form));
}

/** The tokens of a refresh that must succeed. */
export async function refreshed(
  party: Party,
  app: TestClient,
  refreshToken: string,
): Promise<TokenBody> {
  const answer = await post(party, '/oauth/token', app, refreshForm(refreshToken));
  if (answer.status !== 200) throw new Error(`${party.baseUrl} does not refresh.`);
  return json<TokenBody>(answer);
}
