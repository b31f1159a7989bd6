import { setTimeout as sleep } from 'node:timers/promises';
import { onOneServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { useProxiedApp } from '../../support/test-app.js';
import { byExtent } from '../../suite.js';
import { reportFigure } from '../figures.js';

/** With the default ten connections. */
const PERMITS = 50;
/** 60 % of the permits. */
const STEADY = 30;
const BURST = 3 * PERMITS;
const BURSTS = byExtent({ whole: 5, quick: 2 });
const PAUSE_MS = 1000;
/** In each direction: a request executes two statements, one after the other. */
const LATENCY_MS = 12;

onOneServer('Bursts at the default settings', (database) => {
  const { app, proxy } = useProxiedApp(database);

  it('refuse no request: three times the permits at once, while 60 % of the permits are in use', async ({
    task,
  }) => {
    const member = await Member.join(app());
    proxy().slow(LATENCY_MS);
    const timed = async (): Promise<{ status: number; ms: number }> => {
      const startedAt = performance.now();
      const { status } = await member.get('/me');
      return { status, ms: performance.now() - startedAt };
    };
    // Opens the connections of the pool.
    await Promise.all(Array.from({ length: STEADY }, timed));
    const alone = await timed();
    const end = new AbortController();
    const steady = Array.from({ length: STEADY }, async () => {
      const responses = [];
      while (!end.signal.aborted) responses.push(await timed());
      return responses;
    });
    const bursts = [];
    for (let burst = 0; burst < BURSTS; burst += 1) {
      await sleep(PAUSE_MS);
      bursts.push(...(await Promise.all(Array.from({ length: BURST }, timed))));
    }
    end.abort();
    const responses = [...(await Promise.all(steady)).flat(), ...bursts];
    expect(responses.filter(({ status }) => status !== 200)).toEqual([]);
    expect(alone.ms).toBeGreaterThan(40);
    const slowest = Math.max(...bursts.map(({ ms }) => ms));
    reportFigure(
      task,
      `${database.engine.label}: requests of ${Math.round(alone.ms)} ms, ${STEADY} of ${PERMITS} permits in use, ${BURSTS} bursts of ${BURST} requests: none of ${responses.length} refused, slowest ${(slowest / 1000).toFixed(2)} s`,
    );
  });
});
