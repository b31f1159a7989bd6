import { setTimeout as sleep } from 'node:timers/promises';
import mysql, { type Connection } from 'mysql2/promise';
import { Bulkhead } from '../../../src/platform/http/server/bulkhead.js';
import { expectApiError } from '../../support/api.js';
import { onOneServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { requestsInFlight, useTestApp } from '../../support/test-app.js';
import { times } from '../../suite.js';
import { Caller, type RawResponse } from './caller.js';
import { exchangeBegun, publish, publishBegun, readPosts } from './requests.js';

/** Permits for one database connection. */
const WORKING = 5;
const WAITING = 50;
/** Instead of a second: on a slow machine, the tests need longer to fill the queue. */
const DEADLINE_MS = 2000;
/** Timers may fire a moment early. */
const WAIT_MS = DEADLINE_MS - 10;
const MAX_REFUSAL_MS = DEADLINE_MS + 1500;
/** Attempts, of which one has to be fast enough: on a stalled machine, queued requests time out earlier. */
const ATTEMPTS = 3;
const MANY = 20;
/** Disconnects while no permit is free, and the same number beside other requests. */
const PARTINGS = times(2, 1);
const PARTING_MS = 100;
/** For requests of disconnected callers, which continue and are not counted as in flight. */
const CALM_MS = 1100;
const WAIT = { timeout: 3000 };

onOneServer('Bulkhead', (database) => {
  const app = useTestApp(database, {
    DB_POOL_SIZE: '1',
    DB_QUEUE_LIMIT: String(WAITING),
    DB_QUEUE_TIMEOUT_MS: String(DEADLINE_MS),
    DB_TIMEOUT_MS: '10000',
  });
  let other: Connection;
  let member: Member;
  beforeAll(async () => {
    other = await mysql.createConnection(database.url);
    member = await Member.join(app());
  });
  afterAll(() => other?.end());

  /** Runs `work` while admitted requests hold every permit, beside as many other requests. Asserts that they succeed. */
  async function whileBusy<T>(work: () => Promise<T>, beside = 0): Promise<T> {
    await other.query('LOCK TABLES access_tokens WRITE');
    try {
      const busy = Array.from({ length: WORKING }, () => member.get('/me'));
      await expect.poll(() => requestsInFlight(app()), WAIT).toBe(WORKING + beside);
      const outcome = await work();
      await other.query('UNLOCK TABLES');
      for (const { status } of await Promise.all(busy)) expect(status).toBe(200);
      return outcome;
    } finally {
      await other.query('UNLOCK TABLES');
    }
  }

  const inQueue = (): number => app().service(Bulkhead).waiting;

  async function waitsBeforeRefusal(): Promise<number> {
    const begun = performance.now();
    await expectApiError(await member.get('/me'), 503, 'service_unavailable');
    return performance.now() - begun;
  }

  /** Repeats an attempt until it ends before the queue timeout. */
  async function soonEnough(isInTime: () => Promise<boolean>): Promise<void> {
    for (let attempt = 1; !(await isInTime()); attempt += 1) {
      expect(attempt, 'attempts that came too late').toBeLessThan(ATTEMPTS);
      await sleep(CALM_MS);
    }
  }

  it('serves a burst', async () => {
    await soonEnough(async () => {
      const burst = await Promise.all(Array.from({ length: WAITING }, () => member.get('/me')));
      const rejected = burst.filter(({ status }) => status !== 200);
      expect(rejected.filter(({ status }) => status !== 503)).toEqual([]);
      return rejected.length === 0;
    });
  });

  /** Asserts that the number of permits has not changed. */
  async function expectPermits(): Promise<void> {
    await expect.poll(() => requestsInFlight(app()), { timeout: 5000 }).toBe(0);
    await sleep(CALM_MS);
    await whileBusy(async () => expect(await waitsBeforeRefusal()).toBeGreaterThan(WAIT_MS));
  }

  it('releases the permits of callers that disconnect', async () => {
    const { baseUrl } = app();
    const { token } = member;
    const partings = [
      // While no permit is free, with many responses that wait for the first.
      async () => {
        const caller = await Caller.connect(baseUrl);
        caller.sendMore(readPosts(baseUrl, token).repeat(MANY));
        await expect.poll(() => requestsInFlight(app())).toBeGreaterThan(WORKING);
        caller.close();
      },
      // Before its token is checked, and so before its body is read.
      async () => {
        const caller = await Caller.connect(baseUrl);
        caller.sendMore(publish(baseUrl, token, 'Hi'));
        await expect.poll(() => requestsInFlight(app())).toBe(1);
        caller.close();
      },
    ];
    for (const part of partings.slice(0, PARTINGS)) {
      await other.query('LOCK TABLES access_tokens WRITE');
      try {
        await part();
        await sleep(PARTING_MS);
      } finally {
        await other.query('UNLOCK TABLES');
      }
      await expectPermits();
    }
    // In the middle of its body, and with unread responses.
    for (const request of [
      publishBegun(baseUrl, token, 100),
      readPosts(baseUrl, token).repeat(MANY),
    ].slice(0, PARTINGS)) {
      const caller = await Caller.connect(baseUrl);
      caller.sendMore(request);
      await sleep(PARTING_MS);
      caller.close();
      await expectPermits();
    }
  });

  it('queues a request again once its body has arrived', async () => {
    const { baseUrl } = app();
    const body = JSON.stringify({ content: 'Hi' });
    const begun = publishBegun(baseUrl, member.token, body.length) + body.slice(0, -1);
    const callers = await Promise.all(Array.from({ length: MANY }, () => Caller.connect(baseUrl)));
    const responses = callers.map((caller) => caller.send(begun));
    await expect.poll(() => requestsInFlight(app())).toBe(MANY);
    await expect.poll(inQueue).toBe(0);
    await other.query('LOCK TABLES posts WRITE');
    try {
      for (const caller of callers) caller.sendMore(body.slice(-1));
      await expect.poll(inQueue).toBe(MANY - WORKING);
    } finally {
      await other.query('UNLOCK TABLES');
    }
    for (const { status } of await Promise.all(responses)) expect(status).toBe(201);
    for (const caller of callers) caller.close();
  });

  it('returns 503 at once for a form that arrives while the queue is full', async () => {
    const { baseUrl } = app();
    const callers = await Promise.all(
      Array.from({ length: WAITING + 1 }, () => Caller.connect(baseUrl)),
    );
    const responses: RawResponse[] = [];
    const all = callers.map(async (caller) => {
      responses.push(await caller.send(exchangeBegun(baseUrl)));
    });
    await expect.poll(() => requestsInFlight(app())).toBe(callers.length);
    await expect.poll(inQueue).toBe(0);
    await whileBusy(async () => {
      for (const caller of callers) caller.sendMore('&');
      await expect.poll(() => responses.map(({ status }) => status)).toEqual([503]);
      expect(responses[0]?.retryAfter).toMatch(/^[1-3]$/);
    }, callers.length);
    await Promise.all(all);
    expect(responses.slice(1).filter(({ status }) => status >= 500)).toEqual([]);
    for (const caller of callers) caller.close();
  });

  it('returns 503 with Retry-After after the deadline, in the format of each endpoint', async () => {
    await whileBusy(async () => {
      const begun = performance.now();
      const [api, token, page, alive] = await Promise.all([
        member.get('/me'),
        app().fetch('/oauth/token', { method: 'POST', body: new URLSearchParams() }),
        app().fetch('/oauth/authorize'),
        app().fetch('/livez'),
      ]);
      const took = performance.now() - begun;
      await expectApiError(api, 503, 'service_unavailable');
      expect([token.status, page.status, alive.status]).toEqual([503, 503, 200]);
      for (const { headers } of [api, token, page])
        expect(headers.get('retry-after')).toMatch(/^[1-3]$/);
      expect(await token.json()).toMatchObject({ error: 'temporarily_unavailable' });
      expect(page.headers.get('content-type')).toMatch(/^text\/html/);
      expect(took).toBeGreaterThan(WAIT_MS);
      expect(took).toBeLessThan(MAX_REFUSAL_MS);
    });
    expect((await member.get('/me')).status).toBe(200);
  });

  /**
   * Fills the queue and sends one more request. Returns false where the first queued requests timed out before the queue was
   * full.
   */
  async function isFullInTime(): Promise<boolean> {
    const leaving = new AbortController();
    let rejected = 0;
    const waiting = Array.from({ length: WAITING }, () =>
      app()
        .fetch('/dev/v1/me', { signal: leaving.signal })
        .then(() => (rejected += 1))
        .catch((error: Error) => error.name),
    );
    const seen = async (): Promise<number> => (await requestsInFlight(app())) + rejected;
    await expect.poll(seen, WAIT).toBe(WORKING + WAITING);
    const waited = await waitsBeforeRefusal();
    const isInTime = rejected === 0;
    leaving.abort();
    const left = await Promise.all(waiting);
    if (!isInTime) return false;
    expect(waited).toBeLessThan(WAIT_MS / 2);
    expect(left).toEqual(waiting.map(() => 'AbortError'));
    await expect.poll(() => requestsInFlight(app()), WAIT).toBe(WORKING);
    expect(await waitsBeforeRefusal()).toBeGreaterThan(WAIT_MS);
    return true;
  }

  it('returns 503 at once while the queue is full, and does not count disconnected callers', async () => {
    await soonEnough(() => whileBusy(isFullInTime));
  });
});
