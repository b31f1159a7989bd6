import { Logger } from '@nestjs/common';
import { SECOND, MINUTE, HOUR, DAY } from '../../src/platform/clock.js';
import { SmsQueue } from '../../src/modules/oauth/sign-in/sms/sms-queue.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { type Page, Browser } from '../support/browser.js';
import { concurrently, inTurn } from '../support/cluster.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { expectPage } from '../support/responses.js';
import { DEFAULT_LIMITS, type TestClient, useTestApp } from '../support/test-app.js';
import { submitPhone } from '../support/sign-in.js';

onOneEngine('One-time passwords: default limits', (database) => {
  const app = useTestApp(database, DEFAULT_LIMITS);
  let client: TestClient;
  let user: UserWithPhone;

  beforeEach(async () => {
    app().clock.advance(2 * DAY);
    client = await app().addClient();
    user = await app().addUser();
  });

  const requestCode = (phone = user.phone, from = new Browser(app())): Promise<Page> =>
    submitPhone(from, authorizeLink(client), phone);

  it('O51 sends one message to a phone for a hundred concurrent requests', async () => {
    const pages = await concurrently(100, () => requestCode());
    expect(pages.filter(({ status }) => status === 200)).toHaveLength(1);
    // On a busy machine, some wait for the row of the phone until DB_TIMEOUT_MS.
    for (const page of pages)
      expectPage(page, [200, 503].includes(page.status) ? page.status : 429);
    await app().service(SmsQueue).idle();
    expect(app().sms.count(user.phone)).toBe(1);
  });

  it('O52 sends at most five messages an hour and ten a day to a phone', async () => {
    const statuses: number[] = [];
    for (let hour = 1; hour <= 3; hour += 1) {
      for (let each = 1; each <= 6; each += 1) {
        statuses.push((await requestCode()).status);
        app().clock.advance(2 * MINUTE);
      }
      app().clock.advance(HOUR);
    }
    const five = Array<number>(5).fill(200);
    expect(statuses).toEqual([...five, 429, ...five, ...Array<number>(7).fill(429)]);
  });

  it('O52 O144 C25 limits an address to twenty messages an hour, and records the exceeded limit once', async () => {
    const before = (await auditTrail(app().dataSource, 'otp-address')).length;
    const statuses = await inTurn(22, async (each) => {
      // The service ignores the header without TRUST_PROXY.
      const from = new Browser(app(), { 'x-forwarded-for': `203.0.113.${each}` });
      return (await requestCode(`+141555530${10 + each}`, from)).status;
    });
    expect(statuses).toEqual([...Array<number>(20).fill(200), 429, 429]);
    const trail = (await auditTrail(app().dataSource, 'otp-address')).slice(before);
    expect(trail.map(({ action }) => action)).toEqual(['oauth.throttled']);
    expect(JSON.stringify(trail)).not.toContain('141555530');
    app().clock.advance(HOUR + MINUTE);
    expectPage(await requestCode(), 200);
  });
});

onOneEngine('One-time passwords: daily limit of messages', (database) => {
  // The password expires before the service would send a failed message again. Strangers get four fifths: five messages.
  const app = useTestApp(database, { OTP_DAILY_TOTAL: '6', OTP_SECONDS: '1' });
  let client: TestClient;
  let errors: string[];

  beforeEach(async () => {
    app().clock.advance(2 * DAY);
    app().sms.messages.length = 0;
    errors = [];
    vi.spyOn(Logger.prototype, 'error').mockImplementation((line: string) => errors.push(line));
    client = await app().addClient();
  });

  afterEach(async () => {
    // A message that arrives later would count for the next test.
    await app().service(SmsQueue).idle();
    vi.restoreAllMocks();
  });

  const requestCode = (phone: string): Promise<Page> =>
    submitPhone(new Browser(app()), authorizeLink(client), phone);

  async function newPhones(count: number): Promise<string[]> {
    const users = await concurrently(count, () => app().addUser());
    return users.map(({ phone }) => phone);
  }

  async function sendFiveMessages(): Promise<void> {
    for (const phone of await newPhones(5)) expectPage(await requestCode(phone), 200);
    await expect.poll(() => app().sms.messages).toHaveLength(5);
  }

  it('O52 returns 429 for phones with and without a user after the last message', async () => {
    await sendFiveMessages();
    for (const phone of [...(await newPhones(1)), '+14155559921']) {
      const page = await requestCode(phone);
      expectPage(page, 429);
      expect(Number(page.headers.get('retry-after'))).toBeGreaterThan(23 * 3600);
    }
    expect(app().sms.messages).toHaveLength(5);
  });

  it('O52 does not count phones without a user', async () => {
    for (let each = 0; each < 10; each += 1)
      expectPage(await requestCode(`+141555598${10 + each}`), 200);
    await sendFiveMessages();
  });

  it('O52 sends no message beyond the limit for concurrent requests', async () => {
    const pages = await Promise.all((await newPhones(20)).map(requestCode));
    for (const { status } of pages) expect([200, 429]).toContain(status);
    await app().service(SmsQueue).idle();
    expect(app().sms.messages).toHaveLength(5);
    for (const phone of await newPhones(1)) expectPage(await requestCode(phone), 429);
    expect(app().sms.messages).toHaveLength(5);
  });

  /** A browser in which a new user signed in before, without the session. */
  async function trustedBrowser(): Promise<{ visitor: Browser; phone: string }> {
    const user = await app().addUser();
    const visitor = new Browser(app());
    await visitor.signIn(authorizeLink(client), user);
    visitor.cookies.delete('session');
    return { visitor, phone: user.phone };
  }

  it('O52 leaves a fifth of the limit to trusted devices', async () => {
    const members = [await trustedBrowser(), await trustedBrowser()];
    app().clock.advance(2 * DAY);
    app().sms.messages.length = 0;
    await sendFiveMessages();
    for (const phone of await newPhones(1)) expectPage(await requestCode(phone), 429);
    const statuses: number[] = [];
    for (const { visitor, phone } of members) {
      statuses.push((await submitPhone(visitor, authorizeLink(client), phone)).status);
      await app().service(SmsQueue).idle();
    }
    expect(statuses).toEqual([200, 429]);
    expect(app().sms.messages).toHaveLength(6);
  });

  it('O52 reports once an hour that 50, 80 and 100 percent of the limit are used up', async () => {
    const { visitor, phone } = await trustedBrowser();
    app().clock.advance(2 * DAY);
    app().sms.messages.length = 0;
    /** The percentages reported so far. Events of the same millisecond have no order. */
    const reported = async (): Promise<unknown[]> =>
      (await auditTrail(app().dataSource, 'otp'))
        .filter(({ details }) => details.limit === 6)
        .map(({ details }) => details.percentage)
        .toSorted();
    const before = await reported();
    await sendFiveMessages();
    await app().service(SmsQueue).idle();
    expect(await reported()).toEqual([50, 80, ...before].toSorted());
    await submitPhone(visitor, authorizeLink(client), phone);
    await app().service(SmsQueue).idle();
    expect(await reported()).toEqual([50, 80, 100, ...before].toSorted());
    expect(errors).toHaveLength(2);
    expect(errors[0]).toContain('only browsers that signed in before get more');
    expect(errors[1]).toContain('sign-ins by phone are paused');
    for (const error of errors) expect(error).toContain('OTP_DAILY_TOTAL');
  });

  it('O52 sends one more message a day after the first', async () => {
    const [first = '', ...others] = await newPhones(5);
    await requestCode(first);
    await app().sms.password(first);
    app().clock.advance(DAY / 2);
    for (const phone of others) expectPage(await requestCode(phone), 200);
    await expect.poll(() => app().sms.messages).toHaveLength(5);
    const [sixth = '', seventh = ''] = await newPhones(2);
    const rejected = await requestCode(sixth);
    expectPage(rejected, 429);
    app().clock.advance(Number(rejected.headers.get('retry-after')) * SECOND);
    expectPage(await requestCode(sixth), 200);
    await app().sms.password(sixth);
    expectPage(await requestCode(seventh), 429);
  });
});
