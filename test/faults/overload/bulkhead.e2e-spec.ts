import { setTimeout as sleep } from 'node:timers/promises';
import mysql, { type Connection } from 'mysql2/promise';
import { Bulkhead } from '../../../src/platform/http/server/bulkhead.js';
import { expectApiError } from '../../support/api.js';
import { onOneServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { requestsInFlight, useTestApp } from '../../support/test-app.js';
import { byExtent } from '../../suite.js';
import { RawConnection, type RawResponse } from './raw-connection.js';
import { exchangeBegun, publish, publishHead, readPosts } from './requests.js';

/** Permits of the bulkhead, each for one running request: five for the only database connection. */
const PERMITS = 5;
/** Permits that one app may hold. */
const PERMITS_PER_APP = 3;
const QUEUE_LIMIT = 50;
/** Longer than the default, because a slow machine needs time to fill the queue. */
const QUEUE_TIMEOUT_MS = 2000;
/** Timers may fire a moment early. */
const MIN_WAIT_MS = QUEUE_TIMEOUT_MS - 10;
const MAX_RESPONSE_MS = QUEUE_TIMEOUT_MS + 1500;
/** On a stalled machine, queued requests may time out before the queue is full. */
const ATTEMPTS = 3;
const MANY_REQUESTS = 20;
/** Number of disconnects during a table lock, and again without one. */
const DISCONNECTS = byExtent({ whole: 2, quick: 1 });
const DISCONNECT_MS = 100;
const READERS = 10;
/** Much longer than their reads take. */
const READS_MS = 500;
/** Time for the requests of disconnected callers to end: they continue, but do not count as in flight. */
const COOLDOWN_MS = 1100;
const WAIT = { timeout: 3000 };

onOneServer('Bulkhead', (database) => {
  const app = useTestApp(database, {
    DB_POOL_SIZE: '1',
    DB_QUEUE_LIMIT: String(QUEUE_LIMIT),
    DB_QUEUE_TIMEOUT_MS: String(QUEUE_TIMEOUT_MS),
    DB_TIMEOUT_MS: '10000',
  });
  let directConnection: Connection;
  let member: Member;
  beforeAll(async () => {
    directConnection = await mysql.createConnection(database.url);
    member = await Member.join(app());
  });
  afterAll(() => directConnection?.end());

  /**
   * Runs `work` while requests hold all permits. Asserts that these requests succeed afterwards.
   * @param othersInFlight number of other requests in flight
   */
  async function whileBusy<T>(work: () => Promise<T>, { othersInFlight = 0 } = {}): Promise<T> {
    await directConnection.query('LOCK TABLES access_tokens WRITE');
    try {
      const busy = Array.from({ length: PERMITS }, () => member.get('/me'));
      await expect.poll(() => requestsInFlight(app()), WAIT).toBe(PERMITS + othersInFlight);
      const outcome = await work();
      await directConnection.query('UNLOCK TABLES');
      for (const { status } of await Promise.all(busy)) expect(status).toBe(200);
      return outcome;
    } finally {
      await directConnection.query('UNLOCK TABLES');
    }
  }

  const queueLength = (): number => app().service(Bulkhead).waiting;

  async function timeTo503(): Promise<number> {
    const startedAt = performance.now();
    await expectApiError(await member.get('/me'), 503, 'service_unavailable');
    return performance.now() - startedAt;
  }

  /** Asserts that the number of permits has not changed. */
  async function expectPermits(): Promise<void> {
    await expect.poll(() => requestsInFlight(app()), { timeout: 5000 }).toBe(0);
    await sleep(COOLDOWN_MS);
    await whileBusy(async () => expect(await timeTo503()).toBeGreaterThan(MIN_WAIT_MS));
  }

  it('releases the permits of callers that disconnect', async () => {
    const { baseUrl } = app();
    const { token } = member;
    const disconnects = [
      // While no permit is free, with pipelined requests.
      async () => {
        const caller = await RawConnection.connect(baseUrl);
        caller.sendMore(readPosts(baseUrl, token).repeat(MANY_REQUESTS));
        await expect.poll(() => requestsInFlight(app())).toBeGreaterThan(PERMITS);
        caller.close();
      },
      // Before the token is checked, and so before the body is read.
      async () => {
        const caller = await RawConnection.connect(baseUrl);
        caller.sendMore(publish(baseUrl, token, 'Hi'));
        await expect.poll(() => requestsInFlight(app())).toBe(1);
        caller.close();
      },
    ];
    for (const disconnect of disconnects.slice(0, DISCONNECTS)) {
      await directConnection.query('LOCK TABLES access_tokens WRITE');
      try {
        await disconnect();
        await sleep(DISCONNECT_MS);
      } finally {
        await directConnection.query('UNLOCK TABLES');
      }
      await expectPermits();
    }
    // In the middle of the body, and with unread responses.
    for (const request of [
      publishHead(baseUrl, token, 100),
      readPosts(baseUrl, token).repeat(MANY_REQUESTS),
    ].slice(0, DISCONNECTS)) {
      const caller = await RawConnection.connect(baseUrl);
      caller.sendMore(request);
      await sleep(DISCONNECT_MS);
      caller.close();
      await expectPermits();
    }
  });

  it('queues a request again once its body has arrived', async () => {
    const { baseUrl } = app();
    const body = JSON.stringify({ content: 'Hi' });
    const withoutLastByte = publishHead(baseUrl, member.token, body.length) + body.slice(0, -1);
    const callers = await Promise.all(
      Array.from({ length: MANY_REQUESTS }, () => RawConnection.connect(baseUrl)),
    );
    const responses = callers.map((caller) => caller.send(withoutLastByte));
    await expect.poll(() => requestsInFlight(app())).toBe(MANY_REQUESTS);
    await expect.poll(queueLength).toBe(0);
    await directConnection.query('LOCK TABLES posts WRITE');
    try {
      for (const caller of callers) caller.sendMore(body.slice(-1));
      await expect.poll(queueLength).toBe(MANY_REQUESTS - PERMITS_PER_APP);
    } finally {
      await directConnection.query('UNLOCK TABLES');
    }
    for (const { status } of await Promise.all(responses)) expect(status).toBe(201);
    for (const caller of callers) caller.close();
  });

  it('does not queue a request again whose body arrived with its head', async () => {
    const publishing = await Member.join(app());
    // Of several apps, so that none waits for a permit of its app.
    const reading = await Promise.all(Array.from({ length: READERS }, () => Member.join(app())));
    const blocker = await mysql.createConnection(database.url);
    let readsDone = 0;
    try {
      // The publishes wait for their tokens, and then, on the only connection, for this lock.
      await blocker.query('LOCK TABLES posts WRITE');
      await directConnection.query('LOCK TABLES access_tokens WRITE');
      const publishes = Array.from({ length: PERMITS_PER_APP }, () =>
        publishing.post('/posts', { content: 'Hi' }),
      );
      await expect.poll(() => requestsInFlight(app()), WAIT).toBe(PERMITS_PER_APP);
      const reads = reading.map((reader) => reader.get('/me').finally(() => (readsDone += 1)));
      await expect.poll(queueLength).toBe(READERS - (PERMITS - PERMITS_PER_APP));
      await directConnection.query('UNLOCK TABLES');
      await sleep(READS_MS);
      expect(readsDone, 'reads that overtook the publishes').toBeLessThan(READERS / 2);
      await blocker.end();
      for (const { status } of await Promise.all(publishes)) expect(status).toBe(201);
      for (const { status } of await Promise.all(reads)) expect(status).toBe(200);
    } finally {
      await directConnection.query('UNLOCK TABLES');
      blocker.destroy();
    }
  });

  it('returns 503 at once for a form that arrives while the queue is full', async () => {
    const { baseUrl } = app();
    const callers = await Promise.all(
      Array.from({ length: QUEUE_LIMIT + 1 }, () => RawConnection.connect(baseUrl)),
    );
    const responses: RawResponse[] = [];
    const sending = callers.map(async (caller) => {
      responses.push(await caller.send(exchangeBegun(baseUrl)));
    });
    await expect.poll(() => requestsInFlight(app())).toBe(callers.length);
    await expect.poll(queueLength).toBe(0);
    await whileBusy(
      async () => {
        for (const caller of callers) caller.sendMore('&');
        await expect.poll(() => responses.map(({ status }) => status)).toEqual([503]);
        expect(responses[0]?.retryAfter).toMatch(/^[1-3]$/);
      },
      { othersInFlight: callers.length },
    );
    await Promise.all(sending);
    expect(responses.slice(1).filter(({ status }) => status >= 500)).toEqual([]);
    for (const caller of callers) caller.close();
  });

  it('returns 503 with Retry-After after the queue timeout, in the format of each endpoint', async () => {
    await whileBusy(async () => {
      const startedAt = performance.now();
      const [api, token, page, alive] = await Promise.all([
        member.get('/me'),
        app().fetch('/oauth/token', { method: 'POST', body: new URLSearchParams() }),
        app().fetch('/oauth/authorize'),
        app().fetch('/livez'),
      ]);
      const durationMs = performance.now() - startedAt;
      await expectApiError(api, 503, 'service_unavailable');
      expect([token.status, page.status, alive.status]).toEqual([503, 503, 200]);
      for (const { headers } of [api, token, page])
        expect(headers.get('retry-after')).toMatch(/^[1-3]$/);
      expect(await token.json()).toMatchObject({ error: 'temporarily_unavailable' });
      expect(page.headers.get('content-type')).toMatch(/^text\/html/);
      expect(durationMs).toBeGreaterThan(MIN_WAIT_MS);
      expect(durationMs).toBeLessThan(MAX_RESPONSE_MS);
    });
    expect((await member.get('/me')).status).toBe(200);
  });

  /**
   * Fills the queue and sends one more request. Returns false if queued requests timed out before the queue was full.
   */
  async function rejectsAtOnceWhenFull(): Promise<boolean> {
    const aborter = new AbortController();
    let rejected = 0;
    const waiting = Array.from({ length: QUEUE_LIMIT }, () =>
      app()
        .fetch('/dev/v1/me', { signal: aborter.signal })
        .then(() => (rejected += 1))
        .catch((error: Error) => error.name),
    );
    const seen = async (): Promise<number> => (await requestsInFlight(app())) + rejected;
    await expect.poll(seen, WAIT).toBe(PERMITS + QUEUE_LIMIT);
    const waited = await timeTo503();
    const isInTime = rejected === 0;
    aborter.abort();
    const left = await Promise.all(waiting);
    if (!isInTime) return false;
    expect(waited).toBeLessThan(MIN_WAIT_MS / 2);
    expect(left).toEqual(waiting.map(() => 'AbortError'));
    await expect.poll(() => requestsInFlight(app()), WAIT).toBe(PERMITS);
    expect(await timeTo503()).toBeGreaterThan(MIN_WAIT_MS);
    return true;
  }

  it('returns 503 at once while the queue is full, and does not count disconnected callers', async () => {
    for (let attempt = 1; !(await whileBusy(rejectsAtOnceWhenFull)); attempt += 1) {
      expect(attempt, 'number of attempts that were too slow').toBeLessThan(ATTEMPTS);
      await sleep(COOLDOWN_MS);
    }
  });
});
