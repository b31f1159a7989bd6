import { setTimeout as sleep } from 'node:timers/promises';
import mysql, { type Connection } from 'mysql2/promise';
import { Admission } from '../../../src/http/admission.js';
import { expectApiError } from '../../support/api.js';
import { onOneServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { requestsInFlight, useTestApp } from '../../support/test-app.js';
import { times } from '../../suite.js';
import { Caller, type RawAnswer } from './caller.js';
import { exchangeBegun, publish, publishBegun, readPosts } from './requests.js';

/** What is let in for one connection to the database. */
const WORKING = 5;
/** With as many that are next. */
const INSIDE = 2 * WORKING;
const WAITING = 50;
/** A second at least, which timers may end a moment early. */
const WAIT_MS = 990;
const LONGEST_REFUSAL_MS = 4500;
/** Of which one is soon enough: on a machine that stalls, some who wait are refused before that. */
const ATTEMPTS = 3;
const MANY = 20;
/** While nobody is let in, and beside others; the first of each holds up more than the second. */
const PARTINGS = times(2, 1);
const PARTING_MS = 100;
/** In which nobody had to wait outside: then a storm is over, and all places are there again. */
const CALM_MS = 1100;
const PATIENCE = { timeout: 3000 };

onOneServer('What is more than can be worked on', (database) => {
  const app = useTestApp(database, {
    DB_POOL_SIZE: '1',
    DB_QUEUE_LIMIT: String(WAITING),
    DB_TIMEOUT_MS: '10000',
  });
  let other: Connection;
  let member: Member;
  beforeAll(async () => {
    other = await mysql.createConnection(database.url);
    member = await Member.join(app());
  });
  afterAll(() => other?.end());

  beforeEach(() => sleep(CALM_MS));

  /** Runs something while no request gets past its token, beside so many others. Those that were let in before are answered. */
  async function whileBusy<T>(work: () => Promise<T>, beside = 0): Promise<T> {
    await other.query('LOCK TABLES access_tokens WRITE');
    try {
      const busy = Array.from({ length: INSIDE }, () => member.get('/me'));
      await expect.poll(() => requestsInFlight(app()), PATIENCE).toBe(INSIDE + beside);
      const outcome = await work();
      await other.query('UNLOCK TABLES');
      for (const { status } of await Promise.all(busy)) expect(status).toBe(200);
      return outcome;
    } finally {
      await other.query('UNLOCK TABLES');
    }
  }

  const inQueue = (): number => app().service(Admission).waiting;

  async function waitsBeforeRefusal(): Promise<number> {
    const begun = performance.now();
    await expectApiError(await member.get('/me'), 503, 'service_unavailable');
    return performance.now() - begun;
  }

  /** Answered before anybody is refused for having waited too long. */
  async function soonEnough(isInTime: () => Promise<boolean>): Promise<void> {
    for (let attempt = 1; !(await isInTime()); attempt += 1) {
      expect(attempt, 'attempts that came too late').toBeLessThan(ATTEMPTS);
      await sleep(CALM_MS);
    }
  }

  it('is answered when it was a burst', async () => {
    await soonEnough(async () => {
      const burst = await Promise.all(Array.from({ length: WAITING }, () => member.get('/me')));
      const refused = burst.filter(({ status }) => status !== 200);
      expect(refused.filter(({ status }) => status !== 503)).toEqual([]);
      return refused.length === 0;
    });
  });

  /** Neither fewer than before are let in, nor more. */
  async function expectPlaces(): Promise<void> {
    await expect.poll(() => requestsInFlight(app()), { timeout: 5000 }).toBe(0);
    // What was begun for a caller who left goes on, and is no longer counted.
    await sleep(CALM_MS);
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
        await expect.poll(() => requestsInFlight(app())).toBeGreaterThan(WORKING);
        caller.close();
      },
      // Before its token is known, and so before its body is read.
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
      await expectPlaces();
    }
    // In the middle of its body; and with answers that are not read.
    for (const request of [
      publishBegun(baseUrl, token, 100),
      readPosts(baseUrl, token).repeat(MANY),
    ].slice(0, PARTINGS)) {
      const caller = await Caller.connect(baseUrl);
      caller.sendMore(request);
      await sleep(PARTING_MS);
      caller.close();
      await expectPlaces();
    }
  });

  it('waits for its turn again when its body is there', async () => {
    const { baseUrl } = app();
    const body = JSON.stringify({ content: 'Hi' });
    const begun = publishBegun(baseUrl, member.token, body.length) + body.slice(0, -1);
    const callers = await Promise.all(Array.from({ length: MANY }, () => Caller.connect(baseUrl)));
    const answers = callers.map((caller) => caller.send(begun));
    await expect.poll(() => requestsInFlight(app())).toBe(MANY);
    await expect.poll(inQueue).toBe(0);
    await other.query('LOCK TABLES posts WRITE');
    try {
      for (const caller of callers) caller.sendMore(body.slice(-1));
      await expect.poll(inQueue).toBe(MANY - WORKING);
    } finally {
      await other.query('UNLOCK TABLES');
    }
    for (const { status } of await Promise.all(answers)) expect(status).toBe(201);
    for (const caller of callers) caller.close();
  });

  it('is told at once when too many wait whose form was on its way', async () => {
    const { baseUrl } = app();
    const callers = await Promise.all(
      Array.from({ length: WAITING + 1 }, () => Caller.connect(baseUrl)),
    );
    const answers: RawAnswer[] = [];
    const all = callers.map(async (caller) => {
      answers.push(await caller.send(exchangeBegun(baseUrl)));
    });
    await expect.poll(() => requestsInFlight(app())).toBe(callers.length);
    await expect.poll(inQueue).toBe(0);
    await whileBusy(async () => {
      for (const caller of callers) caller.sendMore('&');
      await expect.poll(() => answers.map(({ status }) => status)).toEqual([503]);
      expect(answers[0]?.retryAfter).toMatch(/^[1-3]$/);
    }, callers.length);
    await Promise.all(all);
    expect(answers.slice(1).filter(({ status }) => status >= 500)).toEqual([]);
    for (const caller of callers) caller.close();
  });

  it('waits a few seconds, and is told when to come back, by each endpoint in its own words', async () => {
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
      expect(took).toBeLessThan(LONGEST_REFUSAL_MS);
    });
    expect((await member.get('/me')).status).toBe(200);
  });

  /**
   * Lets as many wait as may, and one more come. False where the first who waited were refused before that, as they are after a
   * second: then not all places were taken.
   */
  async function isFullInTime(): Promise<boolean> {
    const leaving = new AbortController();
    let refused = 0;
    const waiting = Array.from({ length: WORKING + WAITING - INSIDE }, () =>
      app()
        .fetch('/dev/v1/me', { signal: leaving.signal })
        .then(() => (refused += 1))
        .catch((error: Error) => error.name),
    );
    const seen = async (): Promise<number> => (await requestsInFlight(app())) + refused;
    await expect.poll(seen, PATIENCE).toBe(WORKING + WAITING);
    const waited = await waitsBeforeRefusal();
    const isInTime = refused === 0;
    leaving.abort();
    const left = await Promise.all(waiting);
    if (!isInTime) return false;
    expect(waited).toBeLessThan(WAIT_MS / 2);
    expect(left).toEqual(waiting.map(() => 'AbortError'));
    await expect.poll(() => requestsInFlight(app()), PATIENCE).toBe(INSIDE);
    expect(await waitsBeforeRefusal()).toBeGreaterThan(WAIT_MS);
    return true;
  }

  it('is told at once when too many wait already, and those who left are not counted', async () => {
    await soonEnough(() => whileBusy(isFullInTime));
  });
});
