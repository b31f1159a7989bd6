import { AuditEvent } from '../../../src/audit/audit-event.entity.js';
import { sha256 } from '../../../src/common/secrets.js';
import { AccessToken } from '../../../src/modules/oauth/token/access-token.entity.js';
import { RefreshToken } from '../../../src/modules/oauth/token/refresh-token.entity.js';
import { atOnce, rounds, ROUNDS, ROUNDS_MS, useCluster } from '../../support/cluster.js';
import { onEachServer } from '../../support/engines.js';
import { json, type TokenBody } from '../../support/json.js';
import { useTestApp, type TestClient } from '../../support/test-app.js';
import { approve, exchange, requestToken } from '../../support/visitor.js';

const RACERS = 50;
const AGAINST_REVOCATION = 6;

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
        const answers = await atOnce(RACERS, () => refresh(current.refresh_token));
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
    () =>
      rounds(async () => {
        const first = await newTokens();
        const [revoked, ...answers] = await Promise.all([
          revoke(first.refresh_token),
          ...Array.from({ length: AGAINST_REVOCATION }, () => refresh(first.refresh_token)),
        ]);
        expect(revoked.status).toBe(200);
        const tokens = [first];
        for (const answer of answers) {
          const body = await json<TokenBody & { error?: string }>(answer);
          if (answer.status === 200) tokens.push(body);
          else expect([answer.status, body.error]).toEqual([400, 'invalid_grant']);
        }
        for (const { access_token, refresh_token } of tokens) {
          expect(await statusOf(access_token)).toBe(401);
          const answer = await refresh(refresh_token);
          expect(answer.status).toBe(400);
          expect(await json(answer)).toMatchObject({ error: 'invalid_grant' });
        }
        await expectNothingAfterRevocation(await grantOf(first));
      }),
    ROUNDS_MS,
  );
});
