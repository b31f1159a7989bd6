import { authorizeLink, VERIFIER } from '../../support/oauth-flow.js';
import type { TokenBody } from '../../support/responses.js';
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

/** The state of a flow: a user has allowed `client` to access their data, and it got `code`. */
interface Flow {
  readonly server: TestedServer;
  readonly client: TestClient;
  readonly code: string;
  /** The tokens of each successful token request, in order. */
  readonly tokens: TokenBody[];
}

/** A request of a flow, or a pause. */
export type Step = (flow: Flow) => Promise<Response> | undefined;

/** Parameters that replace those of a valid request, with the tokens that the flow got first. */
type Replaced = FormParameters | ((first: TokenBody) => FormParameters);

interface FlowOptions {
  app?: keyof Apps;
  /** Replaces parameters of the authorization request. */
  link?: Record<string, string | undefined>;
  read?: Case['read'];
}

/** Lets a user allow access, and takes the steps. The response of the last one is compared. */
export function flow(
  name: string,
  proves: string | undefined,
  steps: readonly Step[],
  { app = 'garden', link, read }: FlowOptions = {},
): Case {
  return {
    name,
    proves,
    ...(read && { read }),
    async send(server) {
      const client = server.apps[app];
      const redirect = await server.decide(authorizeLink(client, link), 'approve');
      const code = new URL(redirect.headers.get('location') ?? '').searchParams.get('code');
      if (code === null) throw new Error(`The response of ${server.baseUrl} has no code.`);
      const state: Flow = { server, client, code, tokens: [] };
      let response = redirect;
      for (const step of steps) response = (await step(state)) ?? response;
      return response;
    },
  };
}

/** Waits, by the clocks of the servers. */
export function wait(seconds: number): Step {
  return ({ server }) => {
    server.advance(seconds);
    return undefined;
  };
}

/** Exchanges the code, by default with the credentials of the app that got it. */
export function exchange(replaced?: Replaced, by?: keyof Apps): Step {
  return (state) => tokenRequest(state, exchangeForm(state), replaced, by);
}

/** Exchanges the code with only these credentials. */
export function exchangeWith(
  credentials: (client: TestClient, apps: Apps) => { form?: FormParameters; header?: string },
): Step {
  return (state) => {
    const { form, header } = credentials(state.client, state.server.apps);
    return postForm(state.server, '/oauth/token', { ...exchangeForm(state), ...form }, header);
  };
}

/** Refreshes with the first refresh token of the flow. */
export function refresh(replaced?: Replaced, by?: keyof Apps): Step {
  return (state) => tokenRequest(state, refreshForm(firstOf(state)), replaced, by);
}

/** Refreshes with the newest refresh token of the flow. */
export const refreshNewest: Step = (state) =>
  tokenRequest(state, refreshForm(state.tokens.at(-1) ?? firstOf(state)));

/** Revokes the first refresh token of the flow. */
export function revoke(replaced?: Replaced, by?: keyof Apps): Step {
  return (state) =>
    post(state, '/oauth/revoke', { token: firstOf(state).refresh_token }, replaced, by);
}

/** Introspects the first access token of the flow. */
export function introspect(replaced?: Replaced, by?: keyof Apps): Step {
  return (state) =>
    post(state, '/oauth/introspect', { token: firstOf(state).access_token }, replaced, by);
}

/** Sends the first access token of the flow with HTTP Basic and a wrong secret. */
export function withWrongBasic(path: string): Step {
  return (state) => {
    const { server, client } = state;
    const form = { token: firstOf(state).access_token };
    return postForm(server, path, form, basic(client.clientId, 'wrong'));
  };
}

export function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
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

/** Posts a form with the credentials of the app of the flow, or of another app. */
function post(
  state: Flow,
  path: string,
  form: FormParameters,
  replaced: Replaced = {},
  by?: keyof Apps,
): Promise<Response> {
  const { server, client } = state;
  const app = by === undefined ? client : server.apps[by];
  const credentials = { client_id: app.clientId, client_secret: app.secret };
  const changed = typeof replaced === 'function' ? replaced(firstOf(state)) : replaced;
  return postForm(server, path, { ...credentials, ...form, ...changed });
}

async function tokenRequest(
  state: Flow,
  form: FormParameters,
  replaced?: Replaced,
  by?: keyof Apps,
): Promise<Response> {
  const response = await post(state, '/oauth/token', form, replaced, by);
  if (response.ok) state.tokens.push((await response.clone().json()) as TokenBody);
  return response;
}

function firstOf({ tokens: [first], server }: Flow): TokenBody {
  if (!first) throw new Error(`${server.baseUrl} has issued no tokens.`);
  return first;
}

/** The form of a code exchange, without credentials. */
function exchangeForm({ client, code }: Flow): FormParameters {
  return {
    grant_type: 'authorization_code',
    code,
    redirect_uri: client.redirectUris[0],
    ...(client.kind === 'public' && { code_verifier: VERIFIER }),
  };
}

function refreshForm({ refresh_token }: TokenBody): FormParameters {
  return { grant_type: 'refresh_token', refresh_token };
}
