import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { readRows, type Value } from '../../src/database/statements.js';
import { connect, onOneServer } from '../support/database.js';

/** Until a connection on which a statement gets no answer is given up, and some. */
const SILENCE_MS = 3300;
/** More often than idle connections are looked for. */
const OFTEN_MS = 100;

onOneServer('A statement whose values the driver refuses', ({ url }) => {
  let dataSource: DataSource;
  beforeAll(async () => {
    dataSource = await connect(url, { DB_TIMEOUT_MS: '1000', DB_POOL_SIZE: '1' });
  });
  afterAll(() => dataSource?.destroy());

  async function connectionId(): Promise<unknown> {
    const [row] = await dataSource.query<{ id: unknown }[]>('SELECT CONNECTION_ID() AS id');
    return row?.id;
  }

  it('ends no connection, on which others go on', async () => {
    const before = await connectionId();
    const missing = undefined as unknown as Value;
    await expect(readRows(dataSource, 'SELECT ?', [missing])).rejects.toThrow('undefined');
    const until = performance.now() + SILENCE_MS;
    while (performance.now() < until) {
      expect(await connectionId()).toBe(before);
      await sleep(OFTEN_MS);
    }
  });
});
