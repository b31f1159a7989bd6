import { setTimeout as sleep } from 'node:timers/promises';
import mysql, { type Connection } from 'mysql2/promise';
import { Metrics } from '../../../src/metrics/metrics.js';
import { onOneServer } from '../../support/engines.js';
import { useTestApp, type TestApp } from '../../support/test-app.js';
import { expectRefusal } from '../../e2e/api/refusal.js';
import { Member } from '../../e2e/api/member.js';
import { Caller } from './caller.js';
import { publish, publishBegun, readPosts } from './requests.js';

/** What is let in for one connection to the database. */
const WORKING = 5;
/** With as many that are next. */
const INSIDE = 2 * WORKING;
const WAITING = 50;
/** Half a second at least, which timers may end a moment early. */
const WAIT_MS = 490;
const LONGEST_REFUSAL_MS = 3000;
const MANY = 20;
const PARTING_MS = 100;

/** How many requests an app is answering, whether they wait or not. */
async function inFlight(app: TestApp): Promise<number> {
  const gauge = app.service(Metrics).registry.getSingleMetric('http_requests_in_flight');
  const { values = [] } = (await gauge?.get()) ?? {};
  return values[0]?.value ?? 0;
}

onOneServer('What is more than can be worked on', (database) => {
  const app = useTestApp(database, { DB_POOL_SIZE: '1', DB_QUEUE_LIMIT: String(WAITING) });
  let other: Connection;
  let member: Member;
  beforeAll(async () => {
    other = await mysql.createConnection(database.url);
    member = await Member.join(app());
  });
  afterAll(() => other?.end());

  /** Runs something while no request gets past its token, and answers what came of those that were let in before. */
  async function whileBusy(work: () => Promise<void>): Promise<void> {
    await other.query('LOCK TABLES access_tokens WRITE');
    try {
      const busy = Array.from({ length: INSIDE }, () => member.get('/me'));
      await expect.poll(() => inFlight(app()), { timeout: 3000 }).toBe(INSIDE);
      await work();
      await other.query('UNLOCK TABLES');
      for (const { status } of await Promise.all(busy)) expect(status).toBe(200);
    } finally {
      await other.query('UNLOCK TABLES');
    }
  }

  async function waitsBeforeRefusal(): Promise<number> {
    const begun = performance.now();
    await expectRefusal(await member.get('/me'), 503, 'service_unavailable');
    return performance.now() - begun;
  }

  it('is answered when it was a burst', async () => {
    const burst = await Promise.all(Array.from({ length: WAITING }, () => member.get('/me')));
    expect(burst.map(({ status }) => status)).toEqual(burst.map(() => 200));
  });

  /** Neither fewer than before are let in, nor more. */
  async function expectPlaces(): Promise<void> {
    await expect.poll(() => inFlight(app()), { timeout: 5000 }).toBe(0);
    // What was begun for a caller who left goes on, and is no longer counted.
    await sleep(PARTING_MS);
    await whileBusy(async () => expect(await waitsBeforeRefusal()).toBeGreaterThan(WAIT_MS));
  }

  it('finds all places free again, whenever a caller has left', async () => {
    const { baseUrl } = app();
    const { token } = member;
    const partings = [
      // While nobody is let in, with many answers that wait for the first.
      async () => {
        const caller = await Caller.connect(baseUrl);
        caller.sendMore(readPosts(baseUrl, token).repeat(MANY));
        await expect.poll(() => inFlight(app())).toBeGreaterThan(WORKING);
        caller.close();
      },
      // Before its token is known, and so before its body is read.
      async () => {
        const caller = await Caller.connect(baseUrl);
        caller.sendMore(publish(baseUrl, token, 'Hi'));
        await expect.poll(() => inFlight(app())).toBe(1);
        caller.close();
      },
    ];
    for (const part of partings) {
      await other.query('LOCK TABLES access_tokens WRITE');
      try {
        await part();
        await sleep(PARTING_MS);
      } finally {
        await other.query('UNLOCK TABLES');
      }
      await expectPlaces();
    }
    // In the middle of its body; and with answers that are not read.
    for (const request of [
      publishBegun(baseUrl, token, 100),
      readPosts(baseUrl, token).repeat(MANY),
    ]) {
      const caller = await Caller.connect(baseUrl);
      caller.sendMore(request);
      await sleep(PARTING_MS);
      caller.close();
      await expectPlaces();
    }
  });

  it('waits about a second, and is told when to come back, by each endpoint in its own words', async () => {
    await whileBusy(async () => {
      const begun = performance.now();
      const [api, token, page, alive] = await Promise.all([
        member.get('/me'),
        app().fetch('/oauth/token', { method: 'POST', body: new URLSearchParams() }),
        app().fetch('/oauth/authorize'),
        app().fetch('/livez'),
      ]);
      const took = performance.now() - begun;
      await expectRefusal(api, 503, 'service_unavailable');
      expect([token.status, page.status, alive.status]).toEqual([503, 503, 200]);
      for (const { headers } of [api, token, page])
        expect(headers.get('retry-after')).toMatch(/^[1-5]$/);
      expect(await token.json()).toMatchObject({ error: 'temporarily_unavailable' });
      expect(page.headers.get('content-type')).toMatch(/^text\/html/);
      expect(took).toBeGreaterThan(WAIT_MS);
      expect(took).toBeLessThan(LONGEST_REFUSAL_MS);
    });
    expect((await member.get('/me')).status).toBe(200);
  });

  it('is told at once when too many wait already, and those who left are not counted', async () => {
    await whileBusy(async () => {
      const leaving = new AbortController();
      const waiting = Array.from({ length: WORKING + WAITING - INSIDE }, () =>
        app()
          .fetch('/dev/v1/me', { signal: leaving.signal })
          .catch((error: Error) => error.name),
      );
      await expect.poll(() => inFlight(app())).toBe(WORKING + WAITING);
      expect(await waitsBeforeRefusal()).toBeLessThan(WAIT_MS / 2);
      leaving.abort();
      expect(await Promise.all(waiting)).toEqual(waiting.map(() => 'AbortError'));
      await expect.poll(() => inFlight(app())).toBe(INSIDE);
      expect(await waitsBeforeRefusal()).toBeGreaterThan(WAIT_MS);
    });
  });
});
