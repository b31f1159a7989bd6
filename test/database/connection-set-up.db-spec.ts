import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Pool, PoolConnection } from 'mysql2';
import { duringRequest, withDeadline } from '../../src/platform/request-context.js';
import { connect, onEachServer } from '../support/database.js';

const TIMEOUT_MS = 100;

onEachServer('Set-up of a database connection', ({ url }) => {
  // When connections are lost, the pool opens the next one in the context of the request that had the lost one.
  it('succeeds in the context of a request that is past its deadline', async () => {
    const dataSource = await connect(url, { DB_TIMEOUT_MS: String(TIMEOUT_MS) });
    try {
      const { pool } = dataSource.driver as unknown as { pool: Pool };
      const context = { requestId: 'req_1', receivedAt: new Date(), address: null, violations: [] };
      const opened = new Promise<PoolConnection[]>((resolve, reject) => {
        duringRequest(context, () => {
          const open = async (): Promise<PoolConnection[]> => {
            await sleep(2 * TIMEOUT_MS);
            // More than the connection that `connect` has opened.
            const getConnection = promisify(pool.getConnection.bind(pool));
            return Promise.all([getConnection(), getConnection(), getConnection()]);
          };
          open().then(resolve, reject);
        });
      });
      for (const connection of await opened) {
        const [rows] = await withDeadline(() => connection.promise().query('SELECT 1 AS one'));
        expect(rows).toEqual([{ one: 1 }]);
        connection.release();
      }
    } finally {
      await dataSource.destroy();
    }
  });
});
