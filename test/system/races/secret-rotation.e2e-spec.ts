import { HOUR } from '../../../src/platform/clock.js';
import { TransactionRunner } from '../../../src/platform/database/transaction.js';
import { AppSecretsService } from '../../../src/modules/oauth/clients/app-secrets.service.js';
import { GrantsService } from '../../../src/modules/oauth/tokens/grants.service.js';
import { TokenIssuer } from '../../../src/modules/oauth/tokens/token-issuer.js';
import { RepeatedWork } from '../../support/background.js';
import { requestToken } from '../../support/oauth-flow.js';
import {
  concurrently,
  type Cluster,
  rounds,
  ROUNDS,
  ROUNDS_TIMEOUT_MS,
  startCluster,
} from '../../support/cluster.js';
import { CommandLine, runCommandProcess } from '../../support/command-line.js';
import { onEachEngine, onSqliteAndOneServer } from '../../support/database.js';
import { json, type TokenBody } from '../../support/responses.js';
import {
  rateLimits,
  TestApp,
  type TestClient,
  UNLIMITED,
  useTestApp,
} from '../../support/test-app.js';

const WORKERS = 8;
/** Calls of each worker in each phase of a rotation. */
const CALLS = 5;

async function refreshTokenOf(app: TestApp, client: TestClient): Promise<string> {
  const user = await app.addUser();
  const { clientId, scopes } = client;
  const { refreshToken } = await app.service(TransactionRunner).run(async (tx) => {
    const grant = await app.service(GrantsService).create(tx, user.id, clientId, scopes);
    return app.service(TokenIssuer).issue(tx, grant, scopes);
  });
  return refreshToken;
}

/** Workers of one app that refresh without a pause, each the tokens of its own user. */
class Load {
  /** Response statuses, by the secret that was sent. */
  readonly statuses = new Map<string, number[]>();
  private readonly calls = Array<number>(WORKERS).fill(0);
  private readonly workers = new RepeatedWork();

  constructor(
    private readonly cluster: Cluster,
    private readonly client: TestClient,
    private secret: string,
  ) {}

  start(worker: number, refreshToken: string): void {
    let newest = refreshToken;
    this.workers.begin(async () => {
      const { secret } = this;
      const form = { grant_type: 'refresh_token', refresh_token: newest };
      const response = await requestToken(this.cluster, { ...this.client, secret }, form);
      const body = await json<TokenBody>(response);
      if (response.status === 200) newest = body.refresh_token;
      this.statuses.set(secret, [...(this.statuses.get(secret) ?? []), response.status]);
      this.calls[worker] = (this.calls[worker] ?? 0) + 1;
    });
  }

  /** Waits until every worker has made `CALLS` more calls. */
  async runPhase(): Promise<void> {
    const targets = this.calls.map((calls) => calls + CALLS);
    const done = (): boolean => targets.every((goal, worker) => (this.calls[worker] ?? 0) >= goal);
    await expect.poll(done, { timeout: 20_000, interval: 10 }).toBe(true);
  }

  useSecret(secret: string): void {
    this.secret = secret;
  }

  stop(): Promise<void> {
    return this.workers.stop();
  }
}

onEachEngine('Concurrent secret rotations', (database) => {
  const app = useTestApp(database);
  const cli = new CommandLine(database, runCommandProcess);

  /** The expiry of each valid secret, or null without one. The newest secret is first. */
  async function liveExpiries(client: TestClient): Promise<(Date | null)[]> {
    const all = await app().service(AppSecretsService).list(client.clientId);
    return all.filter(({ isLive }) => isLive).map(({ expiresAt }) => expiresAt);
  }

  it(
    `O90 leaves two valid secrets, one of them with an expiry, after twelve rotations at once, in ${ROUNDS} rounds`,
    () =>
      rounds(async () => {
        const client = await app().addClient();
        const secrets = app().service(AppSecretsService);
        const change = { actor: 'test' };
        const all = await concurrently(12, () => secrets.rotate(client.clientId, HOUR, change));
        expect(new Set(all.map(({ secret }) => secret)).size).toBe(12);
        expect(await liveExpiries(client)).toEqual([null, expect.any(Date)]);
      }),
    ROUNDS_TIMEOUT_MS,
  );

  it('O90 leaves two valid secrets, one of them with an expiry, after three commands at once', async () => {
    const client = await app().addClient();
    await concurrently(3, () => cli.json('app', 'secret', 'rotate', client.clientId, '--yes'));
    app().clock.set(new Date().toISOString());
    expect(await liveExpiries(client)).toEqual([null, expect.any(Date)]);
  });
});

onSqliteAndOneServer('Secret rotation under load', (database) => {
  let setupApp: TestApp;
  let cluster: Cluster;
  beforeAll(async () => {
    setupApp = await TestApp.start(database);
    setupApp.clock.set(new Date().toISOString());
    const env = rateLimits({ 'grant-refreshes-per-hour': UNLIMITED });
    const processes = database.engine.kind === 'sqlite' ? 1 : 2;
    cluster = await startCluster({ url: database.url, env }, { processes });
  });
  afterAll(async () => {
    await cluster?.stop();
    await setupApp?.stop();
  });

  it(
    'O90 fails no call while the operator rotates and the workers switch to the new secret',
    { timeout: 90_000 },
    async () => {
      const client = await setupApp.addClient();
      const { clientId, secret: old = '' } = client;
      const tokens = await concurrently(WORKERS, () => refreshTokenOf(setupApp, client));
      const cli = new CommandLine(database, runCommandProcess);
      const load = new Load(cluster, client, old);
      for (const [worker, token] of tokens.entries()) load.start(worker, token);
      await load.runPhase();
      const rotate = ['app', 'secret', 'rotate', clientId, '--grace', '1h'];
      const { client_secret: secret } = await cli.json<{ client_secret: string }>(...rotate);
      await load.runPhase();
      load.useSecret(secret);
      await load.runPhase();
      await load.stop();
      expect([...load.statuses.keys()]).toEqual([old, secret]);
      for (const statuses of load.statuses.values())
        expect(statuses.filter((status) => status !== 200)).toEqual([]);
      expect(load.statuses.get(old)?.length).toBeGreaterThanOrEqual(2 * WORKERS * CALLS);

      const [, former] = await cli.json<{ secret_id: string }[]>('app', 'secret', 'list', clientId);
      await cli.json('app', 'secret', 'revoke', clientId, former?.secret_id ?? '', '--yes');
      const form = { grant_type: 'refresh_token', refresh_token: 'none' };
      const after = await Promise.all(
        [old, secret].map((each) => requestToken(cluster, { ...client, secret: each }, form)),
      );
      // The old secret is revoked. The new one is valid, but the refresh token is not.
      expect(after.map(({ status }) => status)).toEqual([401, 400]);
    },
  );
});
