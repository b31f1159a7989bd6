import { HOUR, later, MINUTE } from '../../src/common/clock.js';
import { TransactionRunner } from '../../src/database/transaction.js';
import { AppSecret } from '../../src/modules/oauth/apps/app-secret.entity.js';
import { AppSecretsService } from '../../src/modules/oauth/apps/app-secrets.service.js';
import { AppsService } from '../../src/modules/oauth/apps/apps.service.js';
import { GrantOpener } from '../../src/modules/oauth/grants/grant-opener.js';
import { GrantUse } from '../../src/modules/oauth/grants/grant-use.js';
import { TokenIssuer } from '../../src/modules/oauth/token/token-issuer.js';
import { requestToken } from '../support/oauth-flow.js';
import { onOneEngine, onEachServer } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { dumpDatabase, expectTokenError } from '../support/responses.js';
import { type TestApp, type TestClient, useTestApp } from '../support/test-app.js';

const NOBODYS_ID = 'svc_app_01jdx8m3wze5cr4w0hg3k7n2qp';
const BY = { actor: 'olga', reason: 'Yearly' };

/** A refresh of tokens made for this call, with this secret. */
async function refreshWith(
  app: TestApp,
  client: TestClient,
  secret: string | undefined,
): Promise<Response> {
  const user = await app.addUser();
  const { refreshToken } = await app.service(TransactionRunner).run(async (tx) => {
    const grant = await app.service(GrantOpener).open(tx, user.id, client.clientId, client.scopes);
    return app.service(TokenIssuer).issue(tx, grant, client.scopes);
  });
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
  return requestToken(app, { ...client, secret }, form);
}

onOneEngine('Client secrets', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let first: string;
  beforeEach(async () => {
    // What the refreshes of the test before left to be written must not count as a statement of this one.
    await app().service(GrantUse).flush();
    client = await app().addClient();
    first = client.secret ?? '';
  });

  const secrets = (): AppSecretsService => app().service(AppSecretsService);

  /** Rotates, a minute after whatever came before. */
  async function rotate(graceMs = HOUR): Promise<string> {
    app().clock.advance(MINUTE);
    return (await secrets().rotate(client.clientId, graceMs, BY)).secret;
  }

  /** What the token endpoint answers to each of these secrets. */
  async function statuses(...values: string[]): Promise<number[]> {
    const answers: number[] = [];
    for (const value of values) answers.push((await refreshWith(app(), client, value)).status);
    return answers;
  }

  /** A call that authenticates the app and fails after, so that it costs as little as can be. */
  function call(secret: string, { clientId } = client): Promise<Response> {
    const form = { grant_type: 'refresh_token', refresh_token: 'none' };
    return requestToken(app(), { ...client, clientId, secret }, form);
  }

  async function revoke(secret: string): ReturnType<AppSecretsService['revoke']> {
    const { id } = await row(secret);
    return secrets().revoke(client.clientId, id, BY);
  }

  function row(secret: string): Promise<AppSecret> {
    const { manager } = app().dataSource;
    const lastFour = secret.slice(-4);
    return manager.findOneByOrFail(AppSecret, { clientId: client.clientId, lastFour });
  }

  async function lastUse(secret: string): Promise<Date | null> {
    return (await row(secret)).lastUsedAt;
  }

  describe('O90 rotation', () => {
    it('O90 The old and the new secret both work up to the millisecond at which the grace ends', async () => {
      const second = await rotate();
      expect(await statuses(first, second)).toEqual([200, 200]);
      app().clock.advance(HOUR - 1);
      expect(await statuses(first, second)).toEqual([200, 200]);
      app().clock.advance(1);
      await expectTokenError(await call(first), 'invalid_client');
      expect(await statuses(second)).toEqual([200]);
    });

    it('O90 A third secret ends the first at once and leaves the second its grace', async () => {
      const second = await rotate();
      const third = await rotate();
      expect(await statuses(first, second, third)).toEqual([401, 200, 200]);
      app().clock.advance(HOUR);
      expect(await statuses(first, second, third)).toEqual([401, 401, 200]);
    });

    it('O90 Without a grace the new secret is the only one', async () => {
      const second = await rotate();
      const third = await rotate(0);
      expect(await statuses(first, second, third)).toEqual([401, 401, 200]);
    });

    it('O90 A grace never gives more time to a secret that ends sooner', async () => {
      const second = await rotate(HOUR);
      await revoke(second);
      const third = await rotate(24 * HOUR);
      app().clock.advance(HOUR - MINUTE - 1);
      expect(await statuses(first, third)).toEqual([200, 200]);
      app().clock.advance(1);
      expect(await statuses(first, third)).toEqual([401, 200]);
    });

    it('O90 An app that lost its last secret gets in again with the next', async () => {
      const { endedNow, live } = await revoke(first);
      expect({ endedNow, live }).toEqual({ endedNow: true, live: 0 });
      expect(await statuses(first)).toEqual([401]);
      const second = await rotate();
      expect(await statuses(first, second)).toEqual([401, 200]);
    });

    it('O90 A revoked secret ends at once and once, and the other one stays', async () => {
      const second = await rotate();
      expect(await revoke(first)).toMatchObject({ endedNow: true, live: 1 });
      expect(await statuses(first, second)).toEqual([401, 200]);
      const { expiresAt } = await row(first);
      app().clock.advance(MINUTE);
      expect(await revoke(first)).toMatchObject({ endedNow: false, live: 1 });
      expect((await row(first)).expiresAt).toEqual(expiresAt);
    });

    it('O90 The secret of one app cannot be revoked under the name of another', async () => {
      const { id } = await row(first);
      const other = await app().addClient();
      await expect(secrets().revoke(other.clientId, id, BY)).rejects.toThrow('no secret with this');
      expect(await statuses(first)).toEqual([200]);
    });
  });

  describe('O90 last use', () => {
    it('O90 The time of the last use moves with the secret that was used, once a minute', async () => {
      const second = await rotate();
      const start = app().clock.now();
      await call(second);
      expect([await lastUse(first), await lastUse(second)]).toEqual([null, start]);
      app().clock.advance(MINUTE - 1);
      await call(second);
      expect(await lastUse(second)).toEqual(start);
      app().clock.advance(1);
      await call(second);
      expect(await lastUse(second)).toEqual(later(start, MINUTE));
    });

    it('O90 A secret that was used within the minute costs two reads and no write', async () => {
      const [due, fresh] = [
        await app().statementsOf(() => call(first)),
        await app().statementsOf(() => call(first)),
      ];
      const writes = (statements: string[]): string[] =>
        statements.filter((statement) => !/^SELECT/i.test(statement));
      expect(writes(due)).toEqual([expect.stringMatching(/^UPDATE .app_secrets. /)]);
      expect(writes(fresh)).toEqual([]);
      expect(fresh).toHaveLength(2);
    });

    it('O90 Twenty calls at once are all let in and leave one time', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => call(first)));
      expect(answers.map(({ status }) => status)).toEqual(Array<number>(20).fill(400));
      expect(await lastUse(first)).toEqual(app().clock.now());
    });

    it('O90 Whoever is not let in moves no time', async () => {
      await expectTokenError(await call(`${first}x`), 'invalid_client');
      await app().service(AppsService).changeStatus(client.clientId, 'disabled', BY);
      await expectTokenError(await call(first), 'invalid_client');
      expect(await lastUse(first)).toBeNull();
    });
  });

  describe('O136 comparison', () => {
    it('O136 An unknown app, a wrong secret and a public app with a secret cost the same statements and get the same bytes', async () => {
      const second = await rotate();
      await call(second);
      const native = await app().addClient({ kind: 'public' });
      const cases = [
        (): Promise<Response> => call(second.toUpperCase()),
        (): Promise<Response> => call(second, { ...client, clientId: NOBODYS_ID }),
        (): Promise<Response> => call(second, native),
      ];
      const bodies: string[] = [];
      const statements: string[][] = [];
      for (const make of cases)
        statements.push(
          await app().statementsOf(async () => {
            const answer = await make();
            expect(answer.status).toBe(401);
            bodies.push(await answer.text());
          }),
        );
      expect(statements[0]).toHaveLength(2);
      for (const each of statements) expect(each).toEqual(statements[0]);
      for (const body of bodies) expect(body).toBe(bodies[0]);
    });

    it('O86 O136 The time of an answer does not tell whether the app exists', async () => {
      const times: Record<'unknown' | 'wrong', number[]> = { unknown: [], wrong: [] };
      const measure = async (kind: 'unknown' | 'wrong', clientId: string): Promise<void> => {
        const start = performance.now();
        await (await call('wrong', { ...client, clientId })).text();
        times[kind].push(performance.now() - start);
      };
      for (let round = 0; round < 80; round += 1) {
        await measure('unknown', NOBODYS_ID);
        await measure('wrong', client.clientId);
      }
      const median = (all: number[]): number => all.toSorted((a, b) => a - b)[40] ?? NaN;
      const ratio = median(times.unknown) / median(times.wrong);
      expect(ratio).toBeGreaterThan(0.5);
      expect(ratio).toBeLessThan(2);
    });

    it('O136 No table holds a secret, and neither does what is known of one', async () => {
      const all = [first, await rotate(), await rotate(0)];
      await revoke(all[2] ?? '');
      const dump =
        (await dumpDatabase(app())) + JSON.stringify(await secrets().list(client.clientId));
      for (const secret of all) expect(dump).not.toContain(secret);
      expect(dump).toContain(first.slice(-4));
    });
  });

  it('O144 Every secret that is added, retired or revoked leaves an entry with its id', async () => {
    const second = await rotate();
    const third = await rotate(0);
    await revoke(third);
    const [one, two, three] = [await row(first), await row(second), await row(third)];
    const named = ({ id, lastFour }: AppSecret): object => ({ secretId: id, lastFour });
    const retired = (secret: AppSecret): object => ({
      action: 'app.secret_retired',
      ...BY,
      details: { ...named(secret), expiresAt: expect.stringMatching(/Z$/) as string },
    });
    const trail = await auditTrail(app().dataSource, client.clientId);
    const ofSecrets = trail.filter(({ action }) => action !== 'app.created');
    expect(ofSecrets).toHaveLength(7);
    expect(ofSecrets).toEqual(
      expect.arrayContaining([
        {
          action: 'app.secret_added',
          actor: 'test',
          reason: null,
          details: named(one),
        },
        retired(one),
        { action: 'app.secret_added', ...BY, details: named(two) },
        retired(two),
        { action: 'app.secret_added', ...BY, details: named(three) },
        { action: 'app.secret_revoked', ...BY, details: named(three) },
      ]),
    );
    expect(ofSecrets.filter(({ action }) => action === 'app.secret_retired')).toHaveLength(3);
  });
});

onEachServer('A client secret whose row is locked', (database) => {
  const app = useTestApp(database, { DB_TIMEOUT_MS: '300' });

  it('O90 A time that cannot be written now keeps nobody out', async () => {
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
    const unmoved = await manager.findOneByOrFail(AppSecret, { clientId: client.clientId });
    expect(unmoved.lastUsedAt).toBeNull();
  });
});
