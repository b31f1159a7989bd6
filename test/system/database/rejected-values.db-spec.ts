import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { readRows, type Value } from '../../../src/platform/database/sql.js';
import { connect, onOneServer } from '../../support/database.js';

const TIMEOUT_MS = '1000';
/** Longer than the statement timeout plus two seconds, after which a connection without a response is closed. */
const PAST_TIMEOUT_MS = 3300;
/** Shorter than the time after which the pool closes an idle connection. */
const INTERVAL_MS = 100;

onOneServer('A statement with a value that the driver rejects', ({ url }) => {
  let dataSource: DataSource;
  beforeAll(async () => {
    dataSource = await connect(url, { DB_TIMEOUT_MS: TIMEOUT_MS, DB_POOL_SIZE: '1' });
  });
  afterAll(() => dataSource?.destroy());

  async function connectionId(): Promise<unknown> {
    const [row] = await dataSource.query<{ id: unknown }[]>('SELECT CONNECTION_ID() AS id');
    return row?.id;
  }

  it('does not close its pooled connection', async () => {
    const idBefore = await connectionId();
    const rejectedValue = undefined as unknown as Value;
    await expect(readRows(dataSource, 'SELECT ?', [rejectedValue])).rejects.toThrow('undefined');
    const until = performance.now() + PAST_TIMEOUT_MS;
    while (performance.now() < until) {
      expect(await connectionId()).toBe(idBefore);
      await sleep(INTERVAL_MS);
    }
  });
});
