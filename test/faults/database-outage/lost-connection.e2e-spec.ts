import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseDiagnostics } from '../../../src/platform/database/database-status.js';
import { onEachServer } from '../../support/database.js';
import { expectedCounts, countPublished } from '../../support/fixtures.js';
import { Member } from '../../support/member.js';
import { useProxiedApp, useTestApp } from '../../support/test-app.js';
import { reportFigure } from '../figures.js';

/** Time after which the service closes a silent connection. */
const SILENCE_MS = 3000;
/** Time in which a request reaches its first locking statement. */
const FIRST_LOCK_MS = 300;
/** Requests that begin this long before that wait for the connection to be closed, and then succeed on a new one. */
const LATE_MS = 600;
/** The pool closes idle connections within this time. The server would close them after ten seconds. */
const MAX_IDLE_MS = 9500;
/** Time after which a server drops the connection of a lost client, and slack for a slow machine. */
const MAX_LOCK_MS = 15_000;

onEachServer('Connection to the database', (database) => {
  const app = useTestApp(database, { DB_TIMEOUT_MS: '1000' });
  /** With a single connection, through the proxy. */
  const { app: proxied, proxy } = useProxiedApp(database, {
    DB_TIMEOUT_MS: '1000',
    DB_POOL_SIZE: '1',
  });

  it('that is silent delays requests that wait for it, which succeed once it is closed', async () => {
    const { token } = await Member.join(app());
    const publish = () => proxied().call(token, 'POST', '/posts', { content: 'Hi' });
    expect((await publish()).status).toBe(201);
    proxy().dropStatement('START TRANSACTION');
    const silent = publish();
    await sleep(FIRST_LOCK_MS);
    await proxy().repair();
    await sleep(SILENCE_MS - FIRST_LOCK_MS - LATE_MS);
    const reads = ['/me', '/quota', '/me'].map((path) => proxied().call(token, 'GET', path));
    const others = await Promise.all(reads);
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await silent).status).toBe(503);
  });

  it(
    'that was lost without notice releases its row locks within seconds',
    { timeout: 2 * MAX_LOCK_MS },
    async ({ task }) => {
      const member = await Member.join(app());
      const publish = (): Promise<Response> => member.post('/posts', { content: 'Hi' });
      const blackholed = proxy().blackholeAfter(/UPDATE quota_usage/);
      const lost = proxied().call(member.token, 'POST', '/posts', { content: 'Hi' });
      await blackholed;
      const lostAt = performance.now();
      await sleep(FIRST_LOCK_MS);
      expect((await publish()).status).toBe(503);
      await expect
        .poll(async () => (await publish()).status, { timeout: MAX_LOCK_MS, interval: 100 })
        .toBe(201);
      const seconds = (performance.now() - lostAt) / 1000;
      expect((await lost).status).toBe(503);
      expect(await countPublished(app(), member)).toEqual(expectedCounts(1));
      reportFigure(
        task,
        `${database.engine.label}: row locks of a lost connection released after ${seconds.toFixed(1)} s`,
      );
    },
  );

  // Except for the one that reads the clock of the server every few seconds.
  it('that is idle is closed by the pool before the server closes it', async () => {
    const member = await Member.join(app());
    await Promise.all([member.get('/me'), member.get('/quota'), member.get('/posts')]);
    const openConnections = (): number => {
      const { used, free } = app().service(DatabaseDiagnostics).pool();
      return used + free;
    };
    expect(openConnections()).toBeGreaterThan(1);
    await expect.poll(openConnections, { timeout: MAX_IDLE_MS }).toBeLessThanOrEqual(1);
    expect((await member.get('/me')).status).toBe(200);
  });
});
