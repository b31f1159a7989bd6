import { setTimeout as sleep } from 'node:timers/promises';
import { onSqlite } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { useTestApp } from '../../support/test-app.js';
import { reportFigure } from '../figures.js';
import { byExtent } from '../../suite.js';
import { RawConnection, type RawResponse } from './raw-connection.js';
import { percentile } from './concurrent-callers.js';
import { publish, publishHead, compressedPublishBegun, readPosts } from './requests.js';

const SLOW_CALLERS = 1000;
/** Callers that connect at the same moment. */
const BATCH = 50;
const MAX_BODY_BYTES = 262_144;
/** Number of bodies of maximum size that fit in 64 MB, the memory for bodies. */
const MAX_LARGE_BODIES = 256;
const TIMEOUT_MS = byExtent({ whole: 5000, quick: 2500 });
/** Less than the timeout, which also releases the memory. */
const MAX_RELEASE_MS = 0.8 * TIMEOUT_MS;
const DRIP_MS = 500;
const PAUSE_MS = 10;
const ROUNDS = byExtent({ whole: 3, quick: 1 });
const MAX_MEMORY_MB = 300;
/** Larger in a quick run, which runs other files in parallel. */
const MAX_RESPONSE_MS = byExtent({ whole: 500, quick: 2000 });
/** Content that gets 503 while the memory for bodies is used up, and otherwise 400, because it is too long for a post. */
const LONG = 'x'.repeat(20_000);

onSqlite('A thousand slow request bodies', (database) => {
  const setupApp = useTestApp(database);
  let service: ServiceProcess;
  let member: Member;
  beforeAll(async () => {
    setupApp().clock.set(new Date().toISOString());
    member = await Member.join(setupApp());
    const env = {
      MIGRATE: '0',
      DEMO: '0',
      LOG_LEVEL: 'error',
      REQUEST_TIMEOUT_MS: String(TIMEOUT_MS),
    };
    service = await startProcess({ url: database.url, env });
  });
  afterAll(() => service?.stop());

  /** Sends bodies of `bytes` bytes, a `drip` at a time. Returns the responses to these requests and to other requests meanwhile. */
  async function sendSlowly(
    bytes: number,
    drip: string,
  ): Promise<{ others: RawResponse[]; slow: RawResponse[] }> {
    const { baseUrl } = service;
    const head = publishHead(baseUrl, member.token, bytes);
    const callers: RawConnection[] = [];
    const slow: Promise<RawResponse>[] = [];
    while (callers.length < SLOW_CALLERS) {
      const some = Array.from({ length: BATCH }, () => RawConnection.connect(baseUrl));
      for (const caller of await Promise.all(some)) {
        callers.push(caller);
        slow.push(caller.send(head));
      }
    }
    const fastConnection = await RawConnection.connect(baseUrl);
    const dripping = setInterval(() => {
      for (const caller of callers) if (caller.isWaiting) caller.sendMore(drip);
    }, DRIP_MS);
    const others: RawResponse[] = [];
    while (callers.some(({ isWaiting }) => isWaiting)) {
      others.push(await fastConnection.send(readPosts(baseUrl, member.token)));
      await sleep(PAUSE_MS);
    }
    clearInterval(dripping);
    for (const caller of [...callers, fastConnection]) caller.close();
    return { others, slow: await Promise.all(slow) };
  }

  it.for([
    { kind: 'small', bytes: 1000, drip: ' ', minRejected: 0 },
    {
      kind: 'of maximum size',
      bytes: MAX_BODY_BYTES,
      drip: ' '.repeat(15_000),
      // The first bodies may end and make room for as many others.
      minRejected: SLOW_CALLERS - 2 * MAX_LARGE_BODIES,
    },
  ])(
    'do not delay other requests and use bounded memory: $kind',
    { timeout: 60_000 },
    async ({ kind, bytes, drip, minRejected }, { task }) => {
      const { others, slow } = await sendSlowly(bytes, drip);
      const count = (status: number): number => slow.filter((one) => one.status === status).length;
      expect(count(408) + count(503)).toBe(SLOW_CALLERS);
      expect(count(503)).toBeGreaterThanOrEqual(minRejected);
      expect(count(408)).toBeGreaterThanOrEqual(MAX_LARGE_BODIES);
      expect(new Set(others.map(({ status }) => status))).toEqual(new Set([200]));
      expect(percentile(others, 95)).toBeLessThan(MAX_RESPONSE_MS);
      const memory = await service.peakMemory();
      expect(memory).toBeLessThan(MAX_MEMORY_MB);
      reportFigure(
        task,
        `${SLOW_CALLERS} slow bodies, ${kind}: ${count(408)} × 408, ${count(503)} × 503, p95 of other requests ${Math.round(percentile(others, 95))} ms, ${memory} MB`,
      );
    },
  );

  it('releases the memory of aborted compressed uploads', async () => {
    const { baseUrl } = service;
    const { token } = member;
    const fastConnection = await RawConnection.connect(baseUrl);
    const statusOfLarge = async (): Promise<number> =>
      (await fastConnection.send(publish(baseUrl, token, LONG))).status;
    for (let round = 0; round < ROUNDS; round += 1) {
      const callers = await Promise.all(
        Array.from({ length: 2 * MAX_LARGE_BODIES }, () => RawConnection.connect(baseUrl)),
      );
      for (const caller of callers) caller.sendMore(compressedPublishBegun(baseUrl, token));
      await expect.poll(statusOfLarge, { timeout: TIMEOUT_MS }).toBe(503);
      const leftAt = performance.now();
      for (const caller of callers) caller.close();
      await expect.poll(statusOfLarge, { timeout: TIMEOUT_MS }).toBe(400);
      expect(performance.now() - leftAt).toBeLessThan(MAX_RELEASE_MS);
    }
    fastConnection.close();
  });
});
