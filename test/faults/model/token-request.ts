import { GrantsService } from '../../../src/modules/oauth/tokens/grants.service.js';
import { exchange, requestToken, sendForm } from '../../support/oauth-flow.js';
import { json } from '../../support/responses.js';
import type { TestApp, TestClient } from '../../support/test-app.js';

/** A confidential app without PKCE, and a public one with it. */
export const CLIENTS = ['Server', 'Phone'] as const;
export type ClientName = (typeof CLIENTS)[number];

/** The parameter that has a wrong value, if any. */
export type Mistake = 'secret' | 'redirect_uri' | 'verifier' | null;

/**
 * A request of `client` to an OAuth endpoint, an API call (`use`), or a user who disconnects the app `client` on the account page.
 * The confidential client sends all introspection requests.
 */
export type Request =
  | { kind: 'exchange'; client: ClientName; code: string; mistake: Mistake }
  | {
      kind: 'refresh';
      client: ClientName;
      token: string;
      mistake: 'secret' | null;
      scope: string | undefined;
    }
  | { kind: 'revoke'; client: ClientName; token: string; mistake: 'secret' | null }
  | { kind: 'use'; token: string }
  | { kind: 'introspect'; token: string }
  | { kind: 'disconnect'; client: ClientName; userId: string };

/** The parts of a response that the model predicts. */
export interface Result {
  status: number;
  /** Body of a success. */
  body?: object;
  /** Error code. */
  error?: string;
}

const WRONG_SECRET = `svc_sec_${'x'.repeat(43)}`;
const OTHER_URI = 'https://garden.example/other';
const OTHER_VERIFIER = 'x'.repeat(43);

/** Sends requests, and reads the predicted parts of their responses. */
export class Requests {
  constructor(
    private readonly app: TestApp,
    private readonly clients: Readonly<Record<ClientName, TestClient>>,
  ) {}

  async send(request: Request): Promise<Result> {
    switch (request.kind) {
      case 'exchange':
        return resultOf(await this.exchange(request));
      case 'refresh': {
        const { client, token: refresh_token, scope, mistake } = request;
        const form = { grant_type: 'refresh_token', refresh_token, scope };
        return resultOf(await requestToken(this.app, this.credentials(client, mistake), form));
      }
      case 'revoke': {
        const { client, token, mistake } = request;
        return resultOf(
          await sendForm(this.app, '/oauth/revoke', this.credentials(client, mistake), { token }),
        );
      }
      case 'use':
        return resultOf(await this.app.call(request.token, 'GET', '/me'), ['id']);
      case 'introspect': {
        const { token } = request;
        const response = await sendForm(this.app, '/oauth/introspect', this.clients.Server, {
          token,
        });
        return resultOf(response, ['active', 'scope', 'sub']);
      }
      case 'disconnect': {
        const { clientId } = this.clients[request.client];
        const change = { actor: request.userId, reason: 'by the user' };
        await this.app.service(GrantsService).revokeForUser(request.userId, [clientId], change);
        return { status: 200, body: {} };
      }
    }
  }

  private exchange({ client, code, mistake }: Request & { kind: 'exchange' }): Promise<Response> {
    return exchange(this.app, this.credentials(client, mistake), code, {
      ...(mistake === 'redirect_uri' && { redirect_uri: OTHER_URI }),
      ...(mistake === 'verifier' && { code_verifier: OTHER_VERIFIER }),
    });
  }

  /** The client, with a wrong secret if that is the mistake. */
  private credentials(name: ClientName, mistake: Mistake): TestClient {
    const client = this.clients[name];
    return mistake === 'secret' ? { ...client, secret: WRONG_SECRET } : client;
  }
}

/** @param members the predicted members of the body; all by default */
async function resultOf(response: Response, members?: readonly string[]): Promise<Result> {
  const { status } = response;
  const body = await json(response);
  if (status >= 400) return { status, error: String(body['error']) };
  const known = Object.entries(body).filter(([name]) => members?.includes(name) ?? true);
  return { status, body: Object.fromEntries(known) };
}
