import mysql, { type Connection } from 'mysql2/promise';
import { sha256 } from '../../../src/platform/secrets.js';
import { AccessToken, RefreshToken } from '../../../src/modules/oauth/tokens/token.entities.js';
import { obtainTokens, sendRefresh } from '../../support/oauth-flow.js';
import { type Cluster, race, ROUNDS_TIMEOUT_MS, startCluster } from '../../support/cluster.js';
import { onEachServer } from '../../support/database.js';
import { json, type TokenBody } from '../../support/responses.js';
import { isStatementRunning, type TestClient, useTestApp } from '../../support/test-app.js';

/** Every round starts a process. */
const TIMEOUT_MS = 3 * ROUNDS_TIMEOUT_MS;

onEachServer('Process crash during a refresh', (database) => {
  const setupApp = useTestApp(database);
  let running: Cluster;
  let blocker: Connection;
  beforeAll(async () => {
    running = await startCluster(database, { processes: 1 });
    blocker = await mysql.createConnection({ uri: database.url });
  });
  afterAll(async () => {
    await blocker?.end();
    await running?.stop();
  });

  /** Kills the process while its refresh, which has consumed the refresh token, waits to insert the new access token. */
  async function killDuring(client: TestClient, refreshToken: string): Promise<void> {
    await blocker.query('LOCK TABLES access_tokens WRITE');
    const lost = sendRefresh(running, client, refreshToken).catch((error: unknown) => error);
    await expect
      .poll(() => isStatementRunning(setupApp(), 'INSERT INTO `access_tokens`'), { timeout: 4000 })
      .toBe(true);
    await running.kill();
    expect(await lost).toBeInstanceOf(Error);
    await blocker.query('UNLOCK TABLES');
    await running.stop();
  }

  race(
    'O101 keeps the refresh token valid for the next process',
    async () => {
      setupApp().clock.set(new Date().toISOString());
      const client = await setupApp().addClient();
      const first = await obtainTokens(setupApp(), client);
      await killDuring(client, first.refresh_token);

      running = await startCluster(database, { processes: 1 });
      const response = await sendRefresh(running, client, first.refresh_token);
      expect(response.status).toBe(200);
      const { access_token } = await json<TokenBody>(response);
      expect((await running.call(access_token, 'GET', '/me')).status).toBe(200);
      const { manager } = setupApp().dataSource;
      const hash = sha256(first.refresh_token);
      const { grantId } = await manager.findOneByOrFail(RefreshToken, { hash });
      expect(await manager.countBy(RefreshToken, { grantId })).toBe(2);
      expect(await manager.countBy(AccessToken, { grantId })).toBe(2);
    },
    TIMEOUT_MS,
  );
});
