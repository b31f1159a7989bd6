import { HOUR, addMilliseconds, MINUTE } from '../../src/platform/clock.js';
import { AppSecret } from '../../src/modules/oauth/clients/client.entities.js';
import { AppSecretsService } from '../../src/modules/oauth/clients/app-secrets.service.js';
import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import { GrantUsageRecorder } from '../../src/modules/oauth/tokens/grant-usage-recorder.js';
import { requestToken, sendRefresh } from '../support/oauth-flow.js';
import { onOneEngine, onEachServer } from '../support/database.js';
import { expectTokenError } from '../support/responses.js';
import { type TestApp, type TestClient, useTestApp } from '../support/test-app.js';

const UNKNOWN_ID = 'svc_app_01jdx8m3wze5cr4w0hg3k7n2qp';
/** Repetitions of a measurement, of which the median is compared. */
const ROUNDS = 30;
/** The operator and the reason of each change, as the audit log records them. */
const CHANGE = { actor: 'olga', reason: 'Yearly' };

/** Refreshes newly issued tokens with this secret. */
async function refreshWith(
  app: TestApp,
  client: TestClient,
  secret: string | undefined,
): Promise<Response> {
  const user = await app.addUser();
  const { refreshToken } = await app.issueTokens(user, client, client.scopes);
  return sendRefresh(app, { ...client, secret }, refreshToken);
}

onOneEngine('Client secrets: rotation, last use and comparison', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let first: string;
  beforeEach(async () => {
    // Deferred writes of the previous test must not count as statements of this one.
    await app().service(GrantUsageRecorder).flush();
    client = await app().addClient();
    first = client.secret ?? '';
  });

  const secrets = (): AppSecretsService => app().service(AppSecretsService);

  /** Advances the clock by a minute and rotates the secret. */
  async function rotate({ graceMs } = { graceMs: HOUR }): Promise<string> {
    app().clock.advance(MINUTE);
    return (await secrets().rotate(client.clientId, graceMs, CHANGE)).secret;
  }

  /** The status of the token endpoint for each of these secrets. */
  async function statuses(...values: string[]): Promise<number[]> {
    const all: number[] = [];
    for (const value of values) all.push((await refreshWith(app(), client, value)).status);
    return all;
  }

  /** Sends a token request that fails after the authentication of the app, so that it takes as few statements as possible. */
  function call(secret: string, { clientId } = client): Promise<Response> {
    const form = { grant_type: 'refresh_token', refresh_token: 'none' };
    return requestToken(app(), { ...client, clientId, secret }, form);
  }

  /** The statements of the authentication, without those that count the attempt and their transactions. */
  function authenticationStatements(statements: readonly string[]): string[] {
    const isAttempt = /\bthrottle_hits\b|^(BEGIN|START|SET|COMMIT)\b/;
    return statements.filter((statement) => !isAttempt.test(statement));
  }

  async function revoke(secret: string): ReturnType<AppSecretsService['revoke']> {
    const { id } = await rowOf(secret);
    return secrets().revoke(client.clientId, id, CHANGE);
  }

  function rowOf(secret: string): Promise<AppSecret> {
    const { manager } = app().dataSource;
    const lastFour = secret.slice(-4);
    return manager.findOneByOrFail(AppSecret, { clientId: client.clientId, lastFour });
  }

  async function lastUse(secret: string): Promise<Date | null> {
    return (await rowOf(secret)).lastUsedAt;
  }

  describe('rotation', () => {
    it('O90 accepts the old and the new secret up to the millisecond at which the grace period ends', async () => {
      const second = await rotate();
      expect(await statuses(first, second)).toEqual([200, 200]);
      app().clock.advance(HOUR - 1);
      expect(await statuses(first, second)).toEqual([200, 200]);
      app().clock.advance(1);
      await expectTokenError(await call(first), 'invalid_client');
      expect(await statuses(second)).toEqual([200]);
    });

    it('O90 ends the first secret at once when a third is added, and the second after its grace period', async () => {
      const second = await rotate();
      const third = await rotate();
      expect(await statuses(first, second, third)).toEqual([401, 200, 200]);
      app().clock.advance(HOUR);
      expect(await statuses(first, second, third)).toEqual([401, 401, 200]);
    });

    it('O90 does not extend a secret that ends before the end of the new grace period', async () => {
      const second = await rotate({ graceMs: HOUR });
      await revoke(second);
      const third = await rotate({ graceMs: 24 * HOUR });
      app().clock.advance(HOUR - MINUTE - 1);
      expect(await statuses(first, third)).toEqual([200, 200]);
      app().clock.advance(1);
      expect(await statuses(first, third)).toEqual([401, 200]);
    });

    it('O90 accepts an app again once it has a new secret after its last secret was revoked', async () => {
      const { revokedNow, live } = await revoke(first);
      expect({ revokedNow, live }).toEqual({ revokedNow: true, live: 0 });
      expect(await statuses(first)).toEqual([401]);
      const second = await rotate();
      expect(await statuses(first, second)).toEqual([401, 200]);
    });
  });

  describe('last use', () => {
    it('O90 updates the last use of the secret that was used, once a minute', async () => {
      const second = await rotate();
      const start = app().clock.now();
      await call(second);
      expect([await lastUse(first), await lastUse(second)]).toEqual([null, start]);
      app().clock.advance(MINUTE - 1);
      await call(second);
      expect(await lastUse(second)).toEqual(start);
      app().clock.advance(1);
      await call(second);
      expect(await lastUse(second)).toEqual(addMilliseconds(start, MINUTE));
    });

    it('O90 writes the last use with one UPDATE, and with none within the same minute', async () => {
      const [firstCall, secondCall] = [
        authenticationStatements(await app().statementsOf(() => call(first))),
        authenticationStatements(await app().statementsOf(() => call(first))),
      ];
      const lookups = [
        expect.stringMatching(/^SELECT .* FROM apps /),
        expect.stringMatching(/^SELECT .* FROM .app_secrets. /),
      ];
      expect(firstCall).toEqual([...lookups, expect.stringMatching(/^UPDATE .app_secrets. /)]);
      expect(secondCall).toEqual(lookups);
    });

    it('O90 authenticates twenty concurrent calls and stores one last use', async () => {
      const responses = await Promise.all(Array.from({ length: 20 }, () => call(first)));
      expect(responses.map(({ status }) => status)).toEqual(Array<number>(20).fill(400));
      expect(await lastUse(first)).toEqual(app().clock.now());
    });

    it('O90 does not update the last use for a wrong secret or a disabled app', async () => {
      await expectTokenError(await call(`${first}x`), 'invalid_client');
      await app().service(AppsService).changeStatus(client.clientId, 'disabled', CHANGE);
      await expectTokenError(await call(first), 'invalid_client');
      expect(await lastUse(first)).toBeNull();
    });
  });

  describe('comparison', () => {
    it('O136 runs the same statements and sends the same bytes for an unknown app, a wrong secret and a public app with a secret', async () => {
      const second = await rotate();
      await call(second);
      const publicClient = await app().addClient({ kind: 'public' });
      const cases = [
        (): Promise<Response> => call(second.toUpperCase()),
        (): Promise<Response> => call(second, { ...client, clientId: UNKNOWN_ID }),
        (): Promise<Response> => call(second, publicClient),
      ];
      const bodies: string[] = [];
      const statements: string[][] = [];
      // The first failure of an app and address adds a row, the next ones update it.
      for (const make of cases) await make();
      for (const make of cases)
        statements.push(
          await app().statementsOf(async () => {
            const response = await make();
            expect(response.status).toBe(401);
            bodies.push(await response.text());
          }),
        );
      expect(authenticationStatements(statements[0] ?? [])).toHaveLength(2);
      for (const each of statements) expect(each).toEqual(statements[0]);
      for (const body of bodies) expect(body).toBe(bodies[0]);
    });

    it('O86 O136 takes the same time for an unknown app as for a wrong secret', async () => {
      const times: Record<'unknown' | 'wrong', number[]> = { unknown: [], wrong: [] };
      const measure = async (kind: 'unknown' | 'wrong', clientId: string): Promise<void> => {
        const start = performance.now();
        const response = await call('wrong', { ...client, clientId });
        await response.text();
        times[kind].push(performance.now() - start);
        expect(response.status).toBe(401);
      };
      for (let round = 0; round < ROUNDS; round += 1) {
        // After 20 failures of an app and address within 15 minutes, the endpoint returns 429 instead of 401.
        if (round % 15 === 0) app().clock.advance(HOUR);
        await measure('unknown', UNKNOWN_ID);
        await measure('wrong', client.clientId);
      }
      const median = (all: number[]): number =>
        all.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? NaN;
      const ratio = median(times.unknown) / median(times.wrong);
      expect(ratio).toBeGreaterThan(0.5);
      expect(ratio).toBeLessThan(2);
    });
  });
});

onEachServer('Client secrets: locked row', (database) => {
  const app = useTestApp(database, { DB_TIMEOUT_MS: '600' });

  it('O90 accepts the app although the last use cannot be written', async () => {
    const client = await app().addClient();
    const runner = app().dataSource.createQueryRunner();
    await runner.startTransaction();
    try {
      await runner.query('SELECT id FROM app_secrets WHERE client_id = ? FOR UPDATE', [
        client.clientId,
      ]);
      expect((await refreshWith(app(), client, client.secret)).status).toBe(200);
    } finally {
      await runner.rollbackTransaction();
      await runner.release();
    }
    const { manager } = app().dataSource;
    const stored = await manager.findOneByOrFail(AppSecret, { clientId: client.clientId });
    expect(stored.lastUsedAt).toBeNull();
  });
});
