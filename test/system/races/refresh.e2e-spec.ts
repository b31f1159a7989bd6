import { setTimeout as sleep } from 'node:timers/promises';
import { AuditEvent } from '../../../src/platform/audit/audit-event.entity.js';
import { sha256 } from '../../../src/platform/secrets.js';
import { AccessToken, RefreshToken } from '../../../src/modules/oauth/tokens/token.entities.js';
import { approve, exchange, sendRefresh } from '../../support/oauth-flow.js';
import {
  concurrently,
  race,
  rounds,
  ROUNDS,
  ROUNDS_TIMEOUT_MS,
  useCluster,
} from '../../support/cluster.js';
import { onEachServer } from '../../support/database.js';
import { json, type TokenBody } from '../../support/responses.js';
import { rateLimits, UNLIMITED, type TestClient, useTestApp } from '../../support/test-app.js';

const RACERS = 50;
/** The refreshes in a race against one revocation. */
const REFRESHES_AGAINST_REVOCATION = 6;
/** Most refreshes of a race against a revocation fail, and all come from one app. */
const ENV = rateLimits({
  'token-failures': UNLIMITED,
  'token-address-failures': UNLIMITED,
});
/** The head start of the revocation in every other round: about the time that a revocation takes. */
const HEAD_STARTS_MS = [5, 15, 25, 35];
/** With this many rounds, the revocation comes before all refreshes at least once, and after one at least once. */
const ROUNDS_WITH_BOTH_OUTCOMES = 100;

onEachServer('Concurrent refreshes in two processes', (database) => {
  const setupApp = useTestApp(database);
  const cluster = useCluster(database, ENV);
  let client: TestClient;
  beforeAll(async () => {
    setupApp().clock.set(new Date().toISOString());
    client = await setupApp().addClient();
  });

  async function newTokens(): Promise<TokenBody> {
    const user = await setupApp().addUser();
    const code = (await approve(cluster(), user, client)).get('code') ?? '';
    return json<TokenBody>(await exchange(cluster(), client, code));
  }

  const refresh = (refreshToken: string): Promise<Response> =>
    sendRefresh(cluster(), client, refreshToken);

  function revoke(token: string): Promise<Response> {
    const credentials = { client_id: client.clientId, client_secret: client.secret ?? '' };
    const body = new URLSearchParams({ ...credentials, token });
    return cluster().fetch('/oauth/revoke', { method: 'POST', body });
  }

  const statusOf = async (accessToken: string): Promise<number> =>
    (await cluster().call(accessToken, 'GET', '/me')).status;

  async function grantOf({ refresh_token }: TokenBody): Promise<string> {
    const hash = sha256(refresh_token);
    const { manager } = setupApp().dataSource;
    return (await manager.findOneByOrFail(RefreshToken, { hash })).grantId;
  }

  /**
   * In even rounds, sends all requests at once, each time with the revocation at another position; in odd rounds, sends the
   * revocation first.
   * @returns the tokens that the refreshes issued
   */
  async function refreshAgainstRevocation(
    { refresh_token }: TokenBody,
    round: number,
  ): Promise<TokenBody[]> {
    const pairOfRounds = Math.floor(round / 2);
    const isRevocationFirst = round % 2 === 1;
    const requests = REFRESHES_AGAINST_REVOCATION + 1;
    const position = isRevocationFirst ? 0 : pairOfRounds % requests;
    const responses = await concurrently(requests, async (number) => {
      if (number === position) return revoke(refresh_token);
      if (isRevocationFirst) await sleep(HEAD_STARTS_MS[pairOfRounds % HEAD_STARTS_MS.length]);
      return refresh(refresh_token);
    });
    const [revoked] = responses.splice(position, 1);
    expect(revoked?.status).toBe(200);
    const tokens: TokenBody[] = [];
    for (const response of responses) {
      const body = await json<TokenBody & { error?: string }>(response);
      if (response.status === 200) tokens.push(body);
      else expect([response.status, body.error]).toEqual([400, 'invalid_grant']);
    }
    return tokens;
  }

  /** Counts the tokens and the audit events of a grant. */
  async function countsOf(grantId: string): Promise<Record<string, number>> {
    const { manager } = setupApp().dataSource;
    const events = (action: string): Promise<number> =>
      manager.countBy(AuditEvent, { subject: grantId, action });
    return {
      access: await manager.countBy(AccessToken, { grantId }),
      refresh: await manager.countBy(RefreshToken, { grantId }),
      refreshed: await events('token.refreshed'),
      replayed: await events('token.replayed'),
      revoked: await events('grant.revoked'),
    };
  }

  /** Expects that the grant was revoked once and issued no token afterwards. */
  async function expectNothingAfterRevocation(grantId: string): Promise<void> {
    const events = await setupApp().dataSource.manager.findBy(AuditEvent, { subject: grantId });
    const revocations = events.filter(({ action }) => action === 'grant.revoked');
    expect(revocations).toHaveLength(1);
    const issued = events.filter(({ action }) => action.startsWith('token.'));
    const last = Math.max(...issued.map(({ at }) => at.getTime()));
    expect(last).toBeLessThanOrEqual(revocations[0]?.at.getTime() ?? 0);
  }

  race(`O100 returns the same pair to ${RACERS} refreshes of one token`, async () => {
    const first = await newTokens();
    const responses = await concurrently(RACERS, () => refresh(first.refresh_token));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    const bodies = await Promise.all(responses.map((response) => json<TokenBody>(response)));
    const pairs = bodies.map(({ access_token, refresh_token }) => access_token + refresh_token);
    expect(new Set(pairs).size).toBe(1);
    expect(await countsOf(await grantOf(first))).toEqual({
      access: 2,
      refresh: 2,
      refreshed: 1,
      replayed: RACERS - 1,
      revoked: 0,
    });
    expect(await statusOf(bodies[0]?.access_token ?? '')).toBe(200);
  });

  it(
    `O105 leaves no valid token after a concurrent revocation, in ${ROUNDS} rounds`,
    async () => {
      const refreshesByRound: number[] = [];
      await rounds(async (round) => {
        const first = await newTokens();
        const tokens = [first, ...(await refreshAgainstRevocation(first, round))];
        for (const { access_token, refresh_token } of tokens) {
          expect(await statusOf(access_token)).toBe(401);
          const response = await refresh(refresh_token);
          expect(response.status).toBe(400);
          expect(await json(response)).toMatchObject({ error: 'invalid_grant' });
        }
        await expectNothingAfterRevocation(await grantOf(first));
        refreshesByRound.push(tokens.length - 1);
      });
      if (ROUNDS < ROUNDS_WITH_BOTH_OUTCOMES) return;
      expect(Math.min(...refreshesByRound)).toBe(0);
      expect(Math.max(...refreshesByRound)).toBeGreaterThan(0);
    },
    ROUNDS_TIMEOUT_MS,
  );
});
