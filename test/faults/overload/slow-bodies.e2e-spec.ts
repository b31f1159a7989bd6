import { setTimeout as sleep } from 'node:timers/promises';
import { onSqlite } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';
import { useTestApp } from '../../support/test-app.js';
import { show } from '../figures.js';
import { times } from '../../suite.js';
import { Caller, type RawAnswer } from './caller.js';
import { percentile } from './crowd.js';
import { publish, publishBegun, publishCompressed, readPosts } from './requests.js';

const SLOW = 1000;
/** Who come at the same moment. */
const GROUP = 50;
const LARGEST_BODY = 262_144;
/** Of which so many may be on their way at once, in 64 MB, and as many after these. */
const MOST_LARGE = 256;
const TIMEOUT_MS = times(5000, 2500);
/** What waits no longer for its end is gone before that. */
const FREED_MS = 0.8 * TIMEOUT_MS;
const DRIP_MS = 500;
const PAUSE_MS = 10;
const ROUNDS = times(3, 1);
const MOST_MEMORY_MB = 300;
/** A quick run has others beside it. */
const PROMPT_MS = times(500, 2000);
/** Larger than what is not counted, and longer than a post may be. */
const LONG = 'x'.repeat(20_000);

onSqlite('A thousand bodies that come a few bytes at a time', (database) => {
  const operator = useTestApp(database);
  let service: ServiceProcess;
  let member: Member;
  beforeAll(async () => {
    operator().clock.set(new Date().toISOString());
    member = await Member.join(operator());
    const env = {
      MIGRATE: '0',
      DEMO: '0',
      LOG_LEVEL: 'error',
      REQUEST_TIMEOUT_MS: String(TIMEOUT_MS),
    };
    service = await startProcess({ url: database.url, env });
  });
  afterAll(() => service?.stop());

  /** How fast others are answered, and what the slow ones are in the end. */
  async function besideSlow(
    bytes: number,
    drip: string,
  ): Promise<{ others: RawAnswer[]; slow: RawAnswer[] }> {
    const { baseUrl } = service;
    const begun = publishBegun(baseUrl, member.token, bytes);
    const callers: Caller[] = [];
    const slow: Promise<RawAnswer>[] = [];
    while (callers.length < SLOW) {
      const some = Array.from({ length: GROUP }, () => Caller.connect(baseUrl));
      for (const caller of await Promise.all(some)) {
        callers.push(caller);
        slow.push(caller.send(begun));
      }
    }
    const other = await Caller.connect(baseUrl);
    const dripping = setInterval(() => {
      for (const caller of callers) if (caller.isWaiting) caller.sendMore(drip);
    }, DRIP_MS);
    const others: RawAnswer[] = [];
    while (callers.some(({ isWaiting }) => isWaiting)) {
      others.push(await other.send(readPosts(baseUrl, member.token)));
      await sleep(PAUSE_MS);
    }
    clearInterval(dripping);
    for (const caller of [...callers, other]) caller.close();
    return { others, slow: await Promise.all(slow) };
  }

  it.for([
    { kind: 'small', bytes: 1000, drip: ' ', refused: 0 },
    {
      kind: 'as large as may be',
      bytes: LARGEST_BODY,
      drip: ' '.repeat(15_000),
      refused: SLOW - 2 * MOST_LARGE,
    },
  ])(
    'keep nobody waiting, and take a bounded memory: $kind',
    { timeout: 60_000 },
    async ({ kind, bytes, drip, refused }, { task }) => {
      const { others, slow } = await besideSlow(bytes, drip);
      const count = (status: number): number => slow.filter((one) => one.status === status).length;
      expect(count(408) + count(503)).toBe(SLOW);
      expect(count(503)).toBeGreaterThanOrEqual(refused);
      expect(count(408)).toBeGreaterThanOrEqual(MOST_LARGE);
      expect(new Set(others.map(({ status }) => status))).toEqual(new Set([200]));
      expect(percentile(others, 95)).toBeLessThan(PROMPT_MS);
      const memory = await service.peakMemory();
      expect(memory).toBeLessThan(MOST_MEMORY_MB);
      show(
        task,
        `${SLOW} slow bodies, ${kind}: ${count(408)} × 408, ${count(503)} × 503, others answered within ${Math.round(percentile(others, 95))} ms in 95 of 100 cases, ${memory} MB`,
      );
    },
  );

  it('take nothing once their callers have left, though they were compressed', async () => {
    const { baseUrl } = service;
    const { token } = member;
    const other = await Caller.connect(baseUrl);
    const statusOfLarge = async (): Promise<number> =>
      (await other.send(publish(baseUrl, token, LONG))).status;
    for (let round = 0; round < ROUNDS; round += 1) {
      const callers = await Promise.all(
        Array.from({ length: 2 * MOST_LARGE }, () => Caller.connect(baseUrl)),
      );
      for (const caller of callers) caller.sendMore(publishCompressed(baseUrl, token));
      await expect.poll(statusOfLarge, { timeout: TIMEOUT_MS }).toBe(503);
      const leftAt = performance.now();
      for (const caller of callers) caller.close();
      await expect.poll(statusOfLarge, { timeout: TIMEOUT_MS }).toBe(400);
      expect(performance.now() - leftAt).toBeLessThan(FREED_MS);
    }
    other.close();
  });
});
