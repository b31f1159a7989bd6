import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import type mysql from 'mysql2';
import type { Pool } from 'mysql2';
import { driverWithTimeouts } from './driver.js';
import { Failover } from './failover.js';
import type { StreamOptions } from './socket.js';

const WAIT_MS = 300;
/** Longer than the test runs. */
const NEVER_MS = 60_000;

describe('Failover with three servers', () => {
  /** Accepts connections and never responds. */
  let unresponsive: Server;
  let pool: Pool;
  let failover: Failover;
  beforeAll(async () => {
    unresponsive = createServer().listen(0, '127.0.0.1');
    await once(unresponsive, 'listening');
    const { port } = unresponsive.address() as AddressInfo;
    const servers = Array.from({ length: 3 }, () => ({ host: '127.0.0.1', port }));
    failover = new Failover(servers, NEVER_MS);
    const driver = driverWithTimeouts('mysql', { waitMs: WAIT_MS, statementMs: WAIT_MS });
    const stream = (connection: StreamOptions) => failover.open(connection);
    const options = { connectionLimit: 1, connectTimeout: NEVER_MS, failover, stream };
    pool = (driver as typeof mysql).createPool(options);
  });
  afterAll(() => {
    pool.end();
    unresponsive.close();
  });

  it('limits the wait for a connection to one timeout, although the current server changes', async () => {
    const startedAt = performance.now();
    const rotation = setInterval(
      () => (failover.current = (failover.current + 1) % failover.size),
      0.7 * WAIT_MS,
    );
    const error = await new Promise((resolve) => pool.getConnection(resolve));
    clearInterval(rotation);
    expect(error).toMatchObject({ code: 'ETIMEDOUT' });
    expect(performance.now() - startedAt).toBeLessThan(5 * WAIT_MS);
  });
});
