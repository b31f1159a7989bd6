import { DatabaseDiagnostics } from '../../src/platform/database/database-status.js';
import { TransactionRunner } from '../../src/platform/database/transaction.js';
import { CallLog } from '../../src/modules/quota/calls/call-log.service.js';
import { useMetricsApp } from '../support/metrics-app.js';
import { onEachServer, onSqlite } from '../support/database.js';
import { Member } from '../support/member.js';
import { scrape } from '../support/prometheus.js';
import { TestApp } from '../support/test-app.js';

/** Begins `count` transactions. Returns a function that ends them. */
function beginTransactions(app: TestApp, count: number): () => Promise<unknown> {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const transactions = Array.from({ length: count }, () =>
    app.service(TransactionRunner).run(() => held),
  );
  return () => {
    release();
    return Promise.all(transactions);
  };
}

onEachServer('Metrics of the connection pool', (database) => {
  const { app, read, metricsOrigin } = useMetricsApp(database, { DB_POOL_SIZE: '2' });

  it('export its limit, its used and free connections, and the number of callers that wait for one', async () => {
    await app().fetch('/readyz');
    await expect.poll(() => read('db_pool_connections', { state: 'used' })).toBe(0);
    expect(await read('db_pool_connections', { state: 'free' })).toBeGreaterThan(0);
    expect(await read('db_pool_limit')).toBe(2);
    const end = beginTransactions(app(), 5);
    const scraping = scrape(`${metricsOrigin()}/metrics`);
    // The metrics endpoint reads the database, so it waits for a connection, too.
    await expect.poll(() => app().service(DatabaseDiagnostics).pool().waiting).toBeGreaterThan(3);
    await end();
    const metrics = await scraping;
    expect(metrics.metric('db_pool_connections', { state: 'used' })).toBe(2);
    expect(metrics.metric('db_pool_connections', { state: 'free' })).toBe(0);
    expect(metrics.metric('db_pool_waiting')).toBe(3);
    await expect.poll(() => read('db_pool_waiting')).toBe(0);
    await expect.poll(() => read('db_pool_connections', { state: 'used' })).toBe(0);
  });

  it('do not include metrics of the SQLite queue', async () => {
    expect(await read('db_transactions_waiting')).toBeUndefined();
  });
});

onSqlite('Metrics of SQLite and of the call log', (database) => {
  const { app, read } = useMetricsApp(database, { DB_POOL_SIZE: '2' });

  it('export the number of waiting transactions', async () => {
    expect(await read('db_transactions_waiting')).toBe(0);
    const end = beginTransactions(app(), 5);
    await expect.poll(() => read('db_transactions_waiting')).toBe(4);
    await end();
    expect(await read('db_transactions_waiting')).toBe(0);
  });

  it('do not include metrics of a pool', async () => {
    expect(await read('db_pool_limit')).toBeUndefined();
  });

  it('export the numbers of unwritten and dropped calls', async () => {
    const member = await Member.join(app());
    expect(await read('call_log_dropped_total')).toBe(0);
    const rename = (from: string, to: string): Promise<unknown> =>
      app().dataSource.query(`ALTER TABLE ${from} RENAME TO ${to}`);
    await app().service(CallLog).flush();
    await rename('api_calls', 'api_calls_away');
    try {
      await member.get('/me');
      await expect.poll(() => read('call_log_waiting')).toBe(1);
      const { clientId } = member.client;
      const caller = {
        clientId,
        test: false,
        userId: member.user.id,
        grantId: 'grt_none',
        scopes: [],
        postLimit: null,
        savedLocation: { latitude: null, longitude: null, neighborhood: null },
        requestId: 'many',
        receivedAt: app().clock.now(),
      };
      const call = { route: 'GET /dev/v1/me', status: 200, durationMs: 1, errorCode: null };
      // At most 10,000 calls wait, and one already does.
      for (let calls = 0; calls < 10_001; calls += 1) app().service(CallLog).record(caller, call);
      expect(await read('call_log_waiting')).toBe(10_000);
      expect(await read('call_log_dropped_total')).toBe(2);
    } finally {
      await rename('api_calls_away', 'api_calls');
    }
    await app().service(CallLog).flush();
    expect(await read('call_log_waiting')).toBe(0);
    expect(await read('call_log_dropped_total')).toBe(2);
  });
});
