import { SCOPES } from '../../src/common/scopes.js';
import { randomToken } from '../../src/common/secrets.js';
import { OtpChallenge } from '../../src/modules/oauth/sign-in/otp-challenge.entity.js';
import { ThrottleHit } from '../../src/modules/oauth/throttle/throttle-hit.entity.js';
import type { User } from '../../src/modules/users/user.entity.js';
import { type Page, Browser } from '../support/browser.js';
import { authorizeLink, redirectParameters } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { expectPage } from '../support/responses.js';
import { type TestApp, type TestClient, useTestApp } from '../support/test-app.js';

const SIGN_IN = '/oauth/authorize/sign-in';
const VERIFY = '/oauth/authorize/verify';
const SIGN_OUT = '/oauth/authorize/sign-out';
const DECISION = '/oauth/authorize/decision';
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

function expectTooMany(page: Page): number {
  expectPage(page, 429);
  expect(page.html).toContain('Too many attempts');
  const seconds = page.headers.get('retry-after') ?? '';
  expect(seconds).toMatch(/^\d+$/);
  return Number(seconds);
}

async function failVerify(visitor: Browser, page: Page, times: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let each = 0; each < times; each += 1)
    statuses.push((await visitor.submit(page, VERIFY, { code: '000000' })).status);
  return statuses;
}

async function codePage(app: TestApp, visitor: Browser, phone = '+14155550123'): Promise<Page> {
  const phonePage = await visitor.open(authorizeLink(await app.addClient()));
  return visitor.submit(phonePage, SIGN_IN, { phone });
}

onOneEngine('Too many attempts at sign-in and decision', (database) => {
  const app = useTestApp(database, {
    OAUTH_DECISION_FAILURES: '20',
    OAUTH_DECISION_ADDRESS_FAILURES: '60',
    OAUTH_DECISION_CALLS: '60',
    OAUTH_DECISION_ADDRESS_CALLS: '1800',
  });
  let client: TestClient;
  let user: User;

  beforeEach(async () => {
    app().clock.advance(DAY);
    client = await app().addClient();
    user = await app().addUser();
  });

  it('O127 After twenty wrong codes of one browser the answer is a page with 429', async () => {
    const visitor = new Browser(app());
    const page = await codePage(app(), visitor);
    expect(await failVerify(visitor, page, 20)).toEqual(Array<number>(20).fill(400));
    const seconds = expectTooMany(await visitor.submit(page, VERIFY, { code: '000000' }));
    expect(seconds).toBeGreaterThan(14 * 60);
    expectTooMany(await visitor.submit(page, SIGN_IN));
    expectPage(await visitor.open(authorizeLink(client)), 200);
    app().clock.advance(seconds * 1000);
    expect((await visitor.signIn(authorizeLink(client), user)).html).toContain('name="decision"');
  });

  it('O127 Twenty forms with a wrong token are as many failures', async () => {
    const visitor = new Browser(app());
    const page = await visitor.signIn(authorizeLink(client), user);
    const wrong = { token: 'x'.repeat(43), decision: 'approve' };
    for (let each = 0; each < 20; each += 1)
      expectPage(await visitor.submit(page, DECISION, wrong), 403);
    expectTooMany(await visitor.submit(page, DECISION, { ...wrong, decision: 'deny' }));
  });

  it('O131 Another browser is not affected by the failures of the first', async () => {
    const visitor = new Browser(app());
    await failVerify(visitor, await codePage(app(), visitor), 20);
    const page = await new Browser(app()).signIn(authorizeLink(client), user);
    expectPage(page, 200);
  });

  it('O130 An address that changes its browser each time has one budget of sixty', async () => {
    const statuses: number[] = [];
    for (let browser = 0; browser < 4; browser += 1) {
      const visitor = new Browser(app());
      statuses.push(...(await failVerify(visitor, await codePage(app(), visitor), 16)));
      app().clock.advance(1);
      if (browser === 3) expectTooMany(await codePage(app(), new Browser(app())));
    }
    expect(statuses).toEqual([...Array<number>(60).fill(400), ...Array<number>(4).fill(429)]);
  });

  it('Forms that another site sends do not use up the budget of the person at the browser', async () => {
    const visitor = new Browser(app());
    const page = await visitor.signIn(authorizeLink(client), user);
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const stranger = new Browser(app());
    for (let each = 0; each < 70; each += 1)
      expectPage(await stranger.post(DECISION, new URLSearchParams(), headers), 403);
    const fields = { scope: [...SCOPES], decision: 'approve' };
    expect(redirectParameters(await visitor.submit(page, DECISION, fields)).has('code')).toBe(true);
  });

  it('Neither a browser without cookies nor a page of an ended session is counted as a failure', async () => {
    const stranger = new Browser(app());
    const phonePage = await stranger.open(authorizeLink(client));
    for (let each = 0; each < 30; each += 1) {
      stranger.cookies.clear();
      expectPage(await stranger.submit(phonePage, SIGN_IN, { phone: user.phone }), 403);
    }
    const visitor = new Browser(app());
    const page = await visitor.signIn(authorizeLink(client), user);
    visitor.cookies.delete('session');
    for (let each = 0; each < 25; each += 1)
      expectPage(await visitor.submit(page, DECISION, { decision: 'approve' }), 403);
    expectPage(await visitor.open(authorizeLink(client)), 200);
    expectPage(await visitor.submit(page, SIGN_OUT), 200);
  });

  it('Sixty steps of one browser are its budget, good ones included', async () => {
    const visitor = new Browser(app());
    const page = await visitor.open(authorizeLink(client));
    for (let each = 0; each < 60; each += 1)
      await visitor.submit(page, SIGN_IN, { phone: 'nobody' });
    expectTooMany(await visitor.submit(page, SIGN_IN, { phone: user.phone }));
  });
});

onOneEngine('Too many wrong codes for one phone', (database) => {
  const app = useTestApp(database, { OTP_PHONE_FAILURES: '10' });
  let user: User;
  let visitor: Browser;

  beforeEach(async () => {
    app().clock.advance(DAY);
    app().sms.messages.length = 0;
    user = await app().addUser();
    visitor = new Browser(app());
  });

  async function ask(): Promise<{ page: Page; code: string; wrong: string }> {
    visitor.cookies.delete('session');
    const earlier = app().sms.count(user.phone);
    const page = await codePage(app(), visitor, user.phone);
    const code = await app().sms.password(user.phone, earlier);
    return { page, code, wrong: String((Number(code) + 1) % 1_000_000).padStart(6, '0') };
  }

  async function fail({ page, wrong }: { page: Page; wrong: string }, times = 5): Promise<void> {
    for (let each = 0; each < times; each += 1)
      expectPage(await visitor.submit(page, VERIFY, { code: wrong }), 400);
  }

  it('O48 Ten in fifteen minutes close it for every request, and no message is sent that could not help', async () => {
    const good = await ask();
    await fail(await ask());
    await fail(await ask());
    expectTooMany(await visitor.submit(good.page, VERIFY, { code: good.code }));
    const sent = app().sms.messages.length;
    const seconds = expectTooMany(await codePage(app(), visitor, user.phone));
    expect(app().sms.messages).toHaveLength(sent);
    app().clock.advance(seconds * 1000);
    const page = await visitor.signIn(authorizeLink(await app().addClient()), user);
    expect(page.html).toContain('name="decision"');
  });

  it('O48 A phone that nobody has is closed by its tenth, too', async () => {
    const phone = '+14155550177';
    for (let request = 0; request < 2; request += 1)
      await failVerify(visitor, await codePage(app(), visitor, phone), 5);
    expectTooMany(await codePage(app(), visitor, phone));
  });

  it('O48 Right codes use up nothing', async () => {
    const client = await app().addClient();
    await fail(await ask());
    await fail(await ask(), 4);
    for (let time = 0; time < 12; time += 1) {
      visitor.cookies.delete('session');
      const page = await visitor.signIn(authorizeLink(client), user);
      expect(page.html).toContain('name="decision"');
    }
    await fail(await ask(), 1);
    expectTooMany(await codePage(app(), new Browser(app()), user.phone));
  });

  it('O48 A guess at a code that is closed, as after five wrong ones, uses up nothing', async () => {
    const closed = await ask();
    await fail(closed, 12);
    await fail(await ask(), 4);
    expectPage(await codePage(app(), visitor, user.phone), 200);
  });

  it('O47 What is refused with 429 is no attempt at the code', async () => {
    app().clock.advance(-4 * MINUTE);
    await fail(await ask());
    await fail(await ask(), 4);
    app().clock.advance(4 * MINUTE);
    const good = await ask();
    await fail(await ask(), 1);
    for (let each = 0; each < 6; each += 1)
      expectTooMany(await visitor.submit(good.page, VERIFY, { code: good.code }));
    const challenges = app().dataSource.getRepository(OtpChallenge);
    const [, transactionId = ''] = /name="transaction" value="([^"]*)"/.exec(good.page.html) ?? [];
    expect(await challenges.findOneBy({ transactionId })).toMatchObject({ attempts: 0 });
  });
});

onOneEngine('Too many steps of one address', (database) => {
  const app = useTestApp(database, {
    TRUST_PROXY: '1',
    OAUTH_DECISION_CALLS: '10',
    OAUTH_DECISION_ADDRESS_CALLS: '40',
  });

  it.each([DECISION, '/account/sign-in'])(
    'O132 A browser that is a new one each time leaves a bounded number of rows: %s',
    async (path) => {
      app().clock.advance(DAY);
      const rows = (): Promise<number> => app().dataSource.manager.count(ThrottleHit);
      const send = async (address: string): Promise<number> => {
        const visitor = new Browser(app(), { 'x-forwarded-for': address });
        visitor.cookies.set('browser', randomToken());
        return (await visitor.post(path, new URLSearchParams())).status;
      };
      const before = await rows();
      const statuses: number[] = [];
      for (let each = 0; each < 60; each += 1) statuses.push(await send('203.0.113.20'));
      expect(statuses).toEqual([...Array<number>(40).fill(400), ...Array<number>(20).fill(429)]);
      expect((await rows()) - before).toBeLessThanOrEqual(2 * 40 + 2);
      expect(await send('203.0.113.21')).toBe(400);
    },
  );

  it('O132 What one browser is refused costs its address nothing', async () => {
    app().clock.advance(DAY);
    const visitor = (): Browser => {
      const browser = new Browser(app(), { 'x-forwarded-for': '203.0.113.22' });
      browser.cookies.set('browser', randomToken());
      return browser;
    };
    const statusOf = async (browser: Browser): Promise<number> =>
      (await browser.post(DECISION, new URLSearchParams())).status;
    const busy = visitor();
    const statuses: number[] = [];
    for (let each = 0; each < 60; each += 1) statuses.push(await statusOf(busy));
    expect(statuses).toEqual([...Array<number>(10).fill(400), ...Array<number>(50).fill(429)]);
    expect(await statusOf(visitor())).toBe(400);
  });
});
