import { setTimeout as sleep } from 'node:timers/promises';
import { AuditEvent } from '../../../src/audit/audit-event.entity.js';
import { sha256 } from '../../../src/common/secrets.js';
import { AccessToken } from '../../../src/modules/oauth/token/access-token.entity.js';
import { RefreshToken } from '../../../src/modules/oauth/token/refresh-token.entity.js';
import { approve, exchange, requestToken } from '../../support/oauth-flow.js';
import { concurrently, rounds, ROUNDS, ROUNDS_MS, useCluster } from '../../support/cluster.js';
import { onEachServer } from '../../support/database.js';
import { json, type TokenBody } from '../../support/responses.js';
import { type TestClient, useTestApp } from '../../support/test-app.js';

const RACERS = 50;
const AGAINST_REVOCATION = 6;
/** By how much the revocation is ahead of the refreshes in every other round: around the time that it takes. */
const HEAD_STARTS_MS = [5, 15, 25, 35];
/** In so many rounds of refreshes against a revocation, each of the two was first at least once. */
const ENOUGH_ROUNDS = 100;

onEachServer('Refreshes at once in two processes', (database) => {
  const operator = useTestApp(database);
  const cluster = useCluster(database);
  let client: TestClient;
  beforeAll(async () => {
    operator().clock.set(new Date().toISOString());
    client = await operator().addClient();
  });

  async function newTokens(): Promise<TokenBody> {
    const user = await operator().addUser();
    const code = (await approve(cluster(), user, client)).get('code') ?? '';
    return json<TokenBody>(await exchange(cluster(), client, code));
  }

  function refresh(refreshToken: string): Promise<Response> {
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
    return requestToken(cluster(), client, form);
  }

  function revoke(token: string): Promise<Response> {
    const credentials = { client_id: client.clientId, client_secret: client.secret ?? '' };
    const body = new URLSearchParams({ ...credentials, token });
    return cluster().fetch('/oauth/revoke', { method: 'POST', body });
  }

  async function statusOf(accessToken: string): Promise<number> {
    const headers = { authorization: `Bearer ${accessToken}` };
    return (await cluster().fetch('/dev/v1/me', { headers })).status;
  }

  async function grantOf({ refresh_token }: TokenBody): Promise<string> {
    const hash = sha256(refresh_token);
    const { manager } = operator().dataSource;
    return (await manager.findOneByOrFail(RefreshToken, { hash })).grantId;
  }

  /**
   * In even rounds all are sent at once, with the revocation in another place each time; in odd ones it is ahead.
   * @returns what the refreshes gave out
   */
  async function refreshAgainstRevocation(
    { refresh_token }: TokenBody,
    round: number,
  ): Promise<TokenBody[]> {
    const turn = Math.floor(round / 2);
    const isAhead = round % 2 === 1;
    const place = isAhead ? 0 : turn % (AGAINST_REVOCATION + 1);
    const answers = await concurrently(AGAINST_REVOCATION + 1, async (number) => {
      if (number === place) return revoke(refresh_token);
      if (isAhead) await sleep(HEAD_STARTS_MS[turn % HEAD_STARTS_MS.length]);
      return refresh(refresh_token);
    });
    const [revoked] = answers.splice(place, 1);
    expect(revoked?.status).toBe(200);
    const tokens: TokenBody[] = [];
    for (const answer of answers) {
      const body = await json<TokenBody & { error?: string }>(answer);
      if (answer.status === 200) tokens.push(body);
      else expect([answer.status, body.error]).toEqual([400, 'invalid_grant']);
    }
    return tokens;
  }

  /** Rows of tokens and what the audit log says about a grant, counted. */
  async function rowsOf(grantId: string): Promise<Record<string, number>> {
    const { manager } = operator().dataSource;
    const said = (action: string): Promise<number> =>
      manager.countBy(AuditEvent, { subject: grantId, action });
    return {
      access: await manager.countBy(AccessToken, { grantId }),
      refresh: await manager.countBy(RefreshToken, { grantId }),
      refreshed: await said('token.refreshed'),
      replayed: await said('token.replayed'),
      revoked: await said('grant.revoked'),
    };
  }

  /** Expects that the grant was revoked once, and that no token of it was given out after. */
  async function expectNothingAfterRevocation(grantId: string): Promise<void> {
    const events = await operator().dataSource.manager.findBy(AuditEvent, { subject: grantId });
    const revocations = events.filter(({ action }) => action === 'grant.revoked');
    expect(revocations).toHaveLength(1);
    const given = events.filter(({ action }) => action.startsWith('token.'));
    const last = Math.max(...given.map(({ at }) => at.getTime()));
    expect(last).toBeLessThanOrEqual(revocations[0]?.at.getTime() ?? 0);
  }

  it(
    `O100 ${RACERS} of one token all get the same pair, ${ROUNDS} times in a row`,
    async () => {
      let current = await newTokens();
      let round = 0;
      await rounds(async () => {
        round += 1;
        const answers = await concurrently(RACERS, () => refresh(current.refresh_token));
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
        const bodies = await Promise.all(answers.map((answer) => json<TokenBody>(answer)));
        expect(new Set(bodies.map(({ access_token }) => access_token)).size).toBe(1);
        expect(new Set(bodies.map(({ refresh_token }) => refresh_token)).size).toBe(1);
        current = bodies[0] ?? current;
        expect(await rowsOf(await grantOf(current))).toEqual({
          access: 1 + round,
          refresh: 1 + round,
          refreshed: round,
          replayed: (RACERS - 1) * round,
          revoked: 0,
        });
        expect(await statusOf(current.access_token)).toBe(200);
      });
    },
    ROUNDS_MS,
  );

  it(
    `O105 Against a revocation: whoever comes first, nothing of the grant lives after, ${ROUNDS} times`,
    async () => {
      const refreshed: number[] = [];
      await rounds(async (round) => {
        const first = await newTokens();
        const tokens = [first, ...(await refreshAgainstRevocation(first, round))];
        for (const { access_token, refresh_token } of tokens) {
          expect(await statusOf(access_token)).toBe(401);
          const answer = await refresh(refresh_token);
          expect(answer.status).toBe(400);
          expect(await json(answer)).toMatchObject({ error: 'invalid_grant' });
        }
        await expectNothingAfterRevocation(await grantOf(first));
        refreshed.push(tokens.length - 1);
      });
      if (ROUNDS < ENOUGH_ROUNDS) return;
      expect(Math.min(...refreshed)).toBe(0);
      expect(Math.max(...refreshed)).toBeGreaterThan(0);
    },
    ROUNDS_MS,
  );
});
