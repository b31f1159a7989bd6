import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { App } from '../../src/modules/oauth/clients/client.entities.js';
import { Parameters } from '../../src/modules/oauth/protocol/parameters.js';
import { AuthorizationCodeGrant } from '../../src/modules/oauth/tokens/authorization-code.grant.js';
import { RefreshTokenGrant } from '../../src/modules/oauth/tokens/refresh-token.grant.js';
import type { IssuedTokens } from '../../src/modules/oauth/tokens/token-issuer.js';
import { TokensService } from '../../src/modules/oauth/tokens/tokens.service.js';
import { inTurn } from '../support/cluster.js';
import { exchange, VERIFIER, newCode, sendRefresh } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { json, type TokenBody } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const USERS = 8;

type Outcomes = PromiseSettledResult<IssuedTokens>[];

onOneEngine('Token endpoint: concurrent requests', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let registeredApp: App;
  beforeAll(async () => {
    client = await app().addClient({ kind: 'public' });
    const { clientId } = client;
    registeredApp = await app().dataSource.manager.findOneByOrFail(App, { clientId });
  });

  /** Codes of `count` users. */
  const newCodes = (count: number): Promise<string[]> =>
    inTurn(count, () => newCode(app(), client));

  /** Starts all exchanges in the same turn of the event loop. */
  function exchangeAll(all: readonly string[]): Promise<Outcomes> {
    const grant = app().service(AuthorizationCodeGrant);
    const form = { redirect_uri: client.redirectUris[0], code_verifier: VERIFIER };
    return Promise.allSettled(
      all.map((code) => grant.exchange(registeredApp, new Parameters({ ...form, code }))),
    );
  }

  /** Starts all refreshes in the same turn of the event loop, each with the scope at its index. */
  function refreshAll(
    all: readonly IssuedTokens[],
    scopes: readonly string[] = [],
  ): Promise<Outcomes> {
    const grant = app().service(RefreshTokenGrant);
    return Promise.allSettled(
      all.map(({ refreshToken: refresh_token }, index) =>
        grant.refresh(registeredApp, new Parameters({ refresh_token, scope: scopes[index] })),
      ),
    );
  }

  async function newTokens(count: number): Promise<IssuedTokens[]> {
    return tokensOf(await exchangeAll(await newCodes(count)));
  }

  /** The outcomes of `work` and the number of its committed transactions. */
  async function countCommits(
    work: () => Promise<Outcomes>,
  ): Promise<{ outcomes: Outcomes; commits: number }> {
    let outcomes: Outcomes = [];
    const statements = await app().statementsOf(async () => {
      outcomes = await work();
    });
    return { outcomes, commits: statements.filter((statement) => statement === 'COMMIT').length };
  }

  it('exchanges all codes in one transaction and refreshes all tokens in one transaction', async () => {
    const codes = await newCodes(4);
    const exchanges = await countCommits(() => exchangeAll(codes));
    expect(exchanges.commits).toBe(1);
    const issued = tokensOf(exchanges.outcomes);
    const refreshes = await countCommits(() => refreshAll(issued));
    expect(refreshes.commits).toBe(1);
    const all = [...issued, ...tokensOf(refreshes.outcomes)];
    expect(new Set(all.flatMap((pair) => [pair.accessToken, pair.refreshToken])).size).toBe(16);
  });

  it('refreshes the other tokens when some are rejected, and does not consume the rejected ones', async () => {
    const tokens = await newTokens(5);
    const [revoked, withWrongScope] = tokens as [IssuedTokens, IssuedTokens];
    await app().service(TokensService).revoke(registeredApp, revoked.refreshToken);
    const outcomes = await refreshAll(tokens, ['', 'profile.read admin']);
    expect(outcomes).toMatchObject([
      { reason: { code: 'invalid_grant' } },
      { reason: { code: 'invalid_scope' } },
      { status: 'fulfilled' },
      { status: 'fulfilled' },
      { status: 'fulfilled' },
    ]);
    expect(await refreshAll([withWrongScope])).toMatchObject([{ status: 'fulfilled' }]);
  });

  it('issues tokens of the right user and writes an audit event for each request', async () => {
    const newClient = await app().addClient({ kind: 'public' });
    const users = await Promise.all(Array.from({ length: USERS }, () => app().addUser()));
    const codes = [];
    for (const user of users) codes.push(await newCode(app(), newClient, user));
    const responses = await Promise.all(codes.map((code) => exchange(app(), newClient, code)));
    const tokens = await Promise.all(responses.map((response) => json<TokenBody>(response)));
    const refreshed = await Promise.all(
      tokens.map(({ refresh_token }) => sendRefresh(app(), newClient, refresh_token)),
    );
    for (const [index, response] of refreshed.entries()) {
      const { access_token } = await json<TokenBody>(response);
      const me = await app().call(access_token, 'GET', '/me');
      expect(await json(me)).toMatchObject({ id: users[index]?.id });
    }
    for (const [action, sent] of [
      ['token.issued', responses],
      ['token.refreshed', refreshed],
    ] as const) {
      const events = await app().dataSource.manager.findBy(AuditEvent, {
        action,
        clientId: newClient.clientId,
      });
      const ids = sent.map(({ headers }) => headers.get('x-request-id')).toSorted();
      expect(events.map(({ requestId }) => requestId).toSorted()).toEqual(ids);
    }
  });
});

/** @throws the error of the first rejected outcome */
function tokensOf(outcomes: Outcomes): IssuedTokens[] {
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}
