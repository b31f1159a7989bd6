import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import type mysql from 'mysql2';
import type { Pool } from 'mysql2';
import { driverWithTimeouts } from './driver.js';
import { Failover } from './failover.js';

const WAIT_MS = 300;
/** Longer than any test waits. */
const NEVER_MS = 60_000;

describe('A connection to the primary of three servers', () => {
  /** Takes connections and says nothing. */
  let silent: Server;
  let pool: Pool;
  let group: Failover;
  beforeAll(async () => {
    silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    group = new Failover(Array<string>(3).fill(`mysql://u:p@127.0.0.1:${port}/d`), NEVER_MS);
    const driver = driverWithTimeouts('mysql', { waitMs: WAIT_MS, statementMs: WAIT_MS });
    const options = { connectionLimit: 1, connectTimeout: NEVER_MS, group };
    pool = (driver as typeof mysql).createPool(options);
  });
  afterAll(() => {
    pool.end();
    silent.close();
  });

  it('is waited for once as long as one waits, however often another server has its turn', async () => {
    const begunAt = performance.now();
    const passing = setInterval(
      () => (group.current = (group.current + 1) % group.size),
      0.7 * WAIT_MS,
    );
    const error = await new Promise((resolve) => pool.getConnection(resolve));
    clearInterval(passing);
    expect(error).toMatchObject({ code: 'ETIMEDOUT' });
    expect(performance.now() - begunAt).toBeLessThan(2 * WAIT_MS);
  });
});
