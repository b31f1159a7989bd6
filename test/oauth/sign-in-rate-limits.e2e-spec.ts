import { addMilliseconds, SECOND, HOUR, DAY } from '../../src/platform/clock.js';
import { SCOPES } from '../../src/platform/access/scopes.js';
import { randomToken } from '../../src/platform/secrets.js';
import { OtpChallenge } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import { RateLimitHit } from '../../src/modules/oauth/rate-limit/rate-limit.entities.js';
import { hashOf } from '../../src/modules/oauth/rate-limit/rate-limiter.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { inTurn } from '../support/cluster.js';
import { type Page, Browser } from '../support/browser.js';
import { authorizeLink, redirectParameters, requestToken } from '../support/oauth-flow.js';
import { onOneEngine, onSqlite } from '../support/database.js';
import { expectPage, expectTokenError } from '../support/responses.js';
import { rateLimits, type TestApp, type TestClient, useTestApp } from '../support/test-app.js';
import {
  SIGN_IN,
  VERIFY,
  SIGN_OUT,
  DECISION,
  wrongCode,
  expectConsentPage,
  submitPhone,
} from '../support/sign-in.js';

/** Longer than the pause between two messages to one phone. */
const MESSAGE_PAUSE = 61 * SECOND;

/** Asserts the error page with 429. Returns its `Retry-After`. */
function expectTooMany(page: Page): number {
  expectPage(page, 429);
  expect(page.html).toContain('Too many attempts');
  const seconds = page.headers.get('retry-after') ?? '';
  expect(seconds).toMatch(/^\d+$/);
  return Number(seconds);
}

/** Sends the code 000000 this many times. Returns the statuses. */
function sendWrongCode(
  visitor: Browser,
  page: Page,
  { times }: { times: number },
): Promise<number[]> {
  return inTurn(times, async () => (await visitor.submit(page, VERIFY, { code: '000000' })).status);
}

/** Submits the phone form of a new app's authorization request. */
async function requestCodeOf(
  app: TestApp,
  visitor: Browser,
  phone = '+14155550123',
): Promise<Page> {
  return submitPhone(visitor, authorizeLink(await app.addClient()), phone);
}

onOneEngine('Rate limits of sign-in and decision', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let user: UserWithPhone;
  let visitor: Browser;

  beforeEach(async () => {
    app().clock.advance(DAY);
    client = await app().addClient();
    user = await app().addUser();
    visitor = new Browser(app());
  });

  it('O127 returns an error page with 429 after twenty wrong codes of one browser', async () => {
    const page = await requestCodeOf(app(), visitor);
    expect(await sendWrongCode(visitor, page, { times: 20 })).toEqual(Array<number>(20).fill(400));
    const seconds = expectTooMany(await visitor.submit(page, VERIFY, { code: '000000' }));
    expect(seconds).toBeGreaterThan(14 * 60);
    expect(seconds).toBeLessThanOrEqual(15 * 60);
    expectTooMany(await visitor.submit(page, SIGN_IN));
    expectPage(await visitor.open(authorizeLink(client)), 200);
    app().clock.advance(seconds * SECOND);
    expectConsentPage(await visitor.signIn(authorizeLink(client), user));
  });

  it('O127 sends a Retry-After of at most a week, even if a wrong clock counted the failures', async () => {
    const page = await requestCodeOf(app(), visitor);
    const hash = hashOf({ name: 'decision-failures-by-address' }, '127.0.0.1');
    const slot = addMilliseconds(app().clock.now(), 400 * DAY);
    const { manager } = app().dataSource;
    await manager.insert(RateLimitHit, { hash, slot, hits: 60 });
    const rejected = await visitor.submit(page, VERIFY, { code: '000000' });
    await manager.delete(RateLimitHit, { hash, slot });
    expect(expectTooMany(rejected)).toBe(604_800);
  });

  it('O131 does not limit another browser', async () => {
    await sendWrongCode(visitor, await requestCodeOf(app(), visitor), { times: 20 });
    expectConsentPage(await new Browser(app()).signIn(authorizeLink(client), user));
  });

  it('O130 limits an address to sixty failures, however many browsers it uses', async () => {
    const statuses: number[] = [];
    for (let browser = 0; browser < 4; browser += 1) {
      const otherBrowser = new Browser(app());
      const page = await requestCodeOf(app(), otherBrowser, `+1415555012${browser}`);
      statuses.push(...(await sendWrongCode(otherBrowser, page, { times: 16 })));
      app().clock.advance(1);
      if (browser === 3)
        expectTooMany(await requestCodeOf(app(), new Browser(app()), '+14155550129'));
    }
    expect(statuses).toEqual([...Array<number>(60).fill(400), ...Array<number>(4).fill(429)]);
  });

  it('does not count forms that another site submits as failures of the address', async () => {
    const page = await visitor.signIn(authorizeLink(client), user);
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const stranger = new Browser(app());
    for (let each = 0; each < 70; each += 1)
      expectPage(await stranger.post(DECISION, new URLSearchParams(), headers), 403);
    expect(redirectParameters(await visitor.allow(page, SCOPES)).has('code')).toBe(true);
  });

  it('does not count a form without cookies or of an ended session as a failure', async () => {
    const stranger = new Browser(app());
    const phonePage = await stranger.open(authorizeLink(client));
    for (let each = 0; each < 40; each += 1) {
      stranger.cookies.clear();
      expectPage(await stranger.submit(phonePage, SIGN_IN, { phone: user.phone }), 403);
    }
    const page = await visitor.signIn(authorizeLink(client), user);
    visitor.cookies.delete('session');
    for (let each = 0; each < 25; each += 1)
      expectPage(await visitor.submit(page, DECISION, { decision: 'approve' }), 403);
    expectPage(await visitor.open(authorizeLink(client)), 200);
    expectPage(await visitor.submit(page, SIGN_OUT), 200);
  });

  it('rejects even a valid form of a browser after sixty submitted forms', async () => {
    const page = await visitor.open(authorizeLink(client));
    for (let each = 0; each < 60; each += 1)
      await visitor.submit(page, SIGN_IN, { phone: 'nobody' });
    expectTooMany(await visitor.submit(page, SIGN_IN, { phone: user.phone }));
  });

  describe('wrong codes for one phone', () => {
    /** Requests a code for the user's phone, after the pause between two messages. */
    async function requestCode(): Promise<{ page: Page; code: string; wrong: string }> {
      app().clock.advance(MESSAGE_PAUSE);
      visitor.cookies.delete('session');
      const earlier = app().sms.count(user.phone);
      const page = await requestCodeOf(app(), visitor, user.phone);
      const code = await app().sms.password(user.phone, { afterMessages: earlier });
      return { page, code, wrong: wrongCode(code) };
    }

    /** Sends a wrong code, three times by default: the service compares three codes for each message to a stranger. */
    async function sendWrongCodes(
      { page, wrong }: { page: Page; wrong: string },
      { times }: { times: number } = { times: 3 },
    ): Promise<void> {
      for (let each = 0; each < times; each += 1)
        expectPage(await visitor.submit(page, VERIFY, { code: wrong }), 400);
    }

    /** Sends wrong codes from other browsers, at most three for each message. */
    async function exhaustFromElsewhere({ times }: { times: number }): Promise<void> {
      const own = visitor;
      for (let left = times; left > 0; left -= 3) {
        visitor = new Browser(app());
        await sendWrongCodes(await requestCode(), { times: Math.min(left, 3) });
      }
      visitor = own;
    }

    it('O48 blocks the phone for every authorization request after ten wrong codes in fifteen minutes, and sends no message', async () => {
      const { page, code } = await requestCode();
      await exhaustFromElsewhere({ times: 10 });
      expectTooMany(await visitor.submit(page, VERIFY, { code }));
      const sent = app().sms.messages.length;
      app().clock.advance(MESSAGE_PAUSE);
      const seconds = expectTooMany(await requestCodeOf(app(), visitor, user.phone));
      expect(app().sms.messages).toHaveLength(sent);
      expect(seconds).toBeLessThanOrEqual(15 * 60);
      // The five messages of the hour are used up, too.
      app().clock.advance(HOUR);
      expectConsentPage(await visitor.signIn(authorizeLink(client), user));
    });

    it('O48 blocks a phone without a user after ten wrong codes, too', async () => {
      const phone = '+14155550177';
      for (const times of [3, 3, 3, 1]) {
        await sendWrongCode(visitor, await requestCodeOf(app(), visitor, phone), { times });
        app().clock.advance(MESSAGE_PAUSE);
      }
      expectTooMany(await requestCodeOf(app(), visitor, phone));
    });

    it('O48 does not count right codes', async () => {
      for (let message = 1; message <= 3; message += 1) await sendWrongCodes(await requestCode());
      for (let signIn = 1; signIn <= 2; signIn += 1) {
        app().clock.advance(MESSAGE_PAUSE);
        visitor.cookies.delete('session');
        expectConsentPage(await visitor.signIn(authorizeLink(client), user));
      }
      visitor = new Browser(app());
      await sendWrongCodes(await requestCode(), { times: 1 });
      expectTooMany(await requestCodeOf(app(), new Browser(app()), user.phone));
    });

    it('O48 does not count an attempt at a code that already had three wrong ones', async () => {
      await sendWrongCodes(await requestCode(), { times: 12 });
      for (let message = 1; message <= 2; message += 1) await sendWrongCodes(await requestCode());
      app().clock.advance(MESSAGE_PAUSE);
      expectPage(await requestCodeOf(app(), visitor, user.phone), 200);
    });

    it('O47 does not count a request with 429 as an attempt at the code', async () => {
      const { page, code } = await requestCode();
      await exhaustFromElsewhere({ times: 10 });
      for (let each = 0; each < 6; each += 1)
        expectTooMany(await visitor.submit(page, VERIFY, { code }));
      const challenges = app().dataSource.getRepository(OtpChallenge);
      const byTime = { where: { phone: user.phone }, order: { createdAt: 'ASC' } } as const;
      expect((await challenges.find(byTime)).at(0)).toMatchObject({ attempts: 0 });
    });
  });
});

onOneEngine('Rate limits of sign-in and decision: calls of one address', (database) => {
  // The defaults are 60 and 1800: the tests would send thousands of requests.
  const app = useTestApp(database, {
    TRUST_PROXY: '1',
    ...rateLimits({ 'sign-in-calls': 10, 'sign-in-address-calls': 40 }),
  });

  function newBrowser(address: string): Browser {
    const browser = new Browser(app(), { 'x-forwarded-for': address });
    browser.cookies.set('browser', randomToken());
    return browser;
  }

  const statusOf = async (browser: Browser, path = DECISION): Promise<number> =>
    (await browser.post(path, new URLSearchParams())).status;

  it.each([DECISION, '/account/sign-in'])(
    'O132 limits an address with a new browser in each request, and stores no rows: %s',
    async (path) => {
      app().clock.advance(DAY);
      const countHits = (): Promise<number> => app().dataSource.manager.count(RateLimitHit);
      const send = (address: string): Promise<number> => statusOf(newBrowser(address), path);
      const before = await countHits();
      const statuses = await inTurn(60, () => send('203.0.113.20'));
      expect(statuses).toEqual([...Array<number>(40).fill(400), ...Array<number>(20).fill(429)]);
      expect(await countHits()).toBe(before);
      expect(await send('203.0.113.21')).toBe(400);
    },
  );

  it('O132 does not count the rejected requests of a browser in the limit of its address', async () => {
    app().clock.advance(DAY);
    const busy = newBrowser('203.0.113.22');
    const statuses = await inTurn(60, () => statusOf(busy));
    expect(statuses).toEqual([...Array<number>(10).fill(400), ...Array<number>(50).fill(429)]);
    expect(await statusOf(newBrowser('203.0.113.22'))).toBe(400);
  });
});

/** An error that is no outage of the database. */
const FAIL_ON_INSERT = `CREATE TRIGGER fail_on_insert BEFORE INSERT ON throttle_hits BEGIN SELECT RAISE(ABORT, 'a bug'); END`;

onSqlite('Errors of the limits of failed attempts', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  beforeAll(async () => {
    client = await app().addClient();
  });
  afterEach(() => app().dataSource.query('DROP TRIGGER fail_on_insert'));

  it('are internal errors of the token endpoint: no attempt remains uncounted', async () => {
    await app().dataSource.query(FAIL_ON_INSERT);
    const wrong = { grant_type: 'refresh_token', refresh_token: 'x', client_secret: 'wrong' };
    await expectTokenError(await requestToken(app(), client, wrong), 'server_error', 500);
  });

  it('are internal errors of the pages', async () => {
    const browser = new Browser(app());
    const phonePage = await browser.open(authorizeLink(client));
    const { phone } = await app().addUser();
    const codePage = await browser.submit(phonePage, SIGN_IN, { phone });
    const code = await app().sms.password(phone);
    await app().dataSource.query(FAIL_ON_INSERT);
    expectPage(await browser.submit(phonePage, SIGN_IN, { token: 'x' }), 500);
    const wrong = code === '000000' ? '000001' : '000000';
    expectPage(await browser.submit(codePage, VERIFY, { code: wrong }), 500);
  });
});
