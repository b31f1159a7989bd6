import { AuditEvent } from '../../src/audit/audit-event.entity.js';
import { OtpFailures } from '../../src/modules/oauth/sign-in/otp-failures.entity.js';
import { PhoneLock } from '../../src/modules/oauth/sign-in/phone-lock.js';
import type { User } from '../../src/modules/users/user.entity.js';
import { type Page, Browser } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { expectPage } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const SIGN_IN = '/oauth/authorize/sign-in';
const VERIFY = '/oauth/authorize/verify';
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const NOBODYS = '+14155559931';

/** What was typed, and the right code where there is one. */
interface Asked {
  visitor: Browser;
  page: Page;
  code: string;
}

onOneEngine('A hundred wrong codes for one phone', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let user: User;

  beforeEach(async () => {
    app().clock.advance(48 * HOUR);
    client = await app().addClient();
    user = await app().addUser();
  });

  async function ask(phone: string): Promise<Asked> {
    const visitor = new Browser(app());
    app().sms.messages.length = 0;
    const page = await visitor.submit(await visitor.open(authorizeLink(client)), SIGN_IN, {
      phone,
    });
    const code = phone === NOBODYS || page.status !== 200 ? '' : await app().sms.password(phone);
    return { visitor, page, code };
  }

  function fail({ visitor, page, code }: Asked, by = 1): Promise<Page> {
    const wrong = String((Number(code) + by) % 1_000_000).padStart(6, '0');
    return visitor.submit(page, VERIFY, { code: wrong });
  }

  async function failTimes(phone: string, times: number): Promise<void> {
    for (let left = times; left > 0; left -= 5) {
      const asked = await ask(phone);
      for (let by = 1; by <= Math.min(left, 5); by += 1) expectPage(await fail(asked, by), 400);
    }
  }

  function succeed({ visitor, page, code }: Asked): Promise<Page> {
    return visitor.submit(page, VERIFY, { code });
  }

  function expectLocked(page: Page): number {
    expectPage(page, 429);
    expect(page.html).toContain('Too many attempts');
    expect(page.html).toContain('ask support');
    return Number(page.headers.get('retry-after'));
  }

  function expectSignedIn(page: Page): void {
    expectPage(page, 200);
    expect(page.html).toContain('name="decision"');
  }

  /** As if so many had been typed before. */
  async function prepare(phone: string, failures: number): Promise<void> {
    const rows = app().dataSource.getRepository(OtpFailures);
    await rows.save({ phone, failures, lastAt: app().clock.now(), lockedUntil: null });
  }

  async function lockEvents(): Promise<AuditEvent[]> {
    return app().dataSource.getRepository(AuditEvent).findBy({ action: 'otp.locked' });
  }

  it('O56 They close it for a day, for the right code and for new messages too', async () => {
    await failTimes(user.phone, 99);
    const asked = await ask(user.phone);
    expectPage(await fail(asked), 400);
    expect(expectLocked(await succeed(asked))).toBe(24 * 3600);
    app().clock.advance(4 * MINUTE);
    expect(expectLocked(await succeed(asked))).toBe(24 * 3600 - 240);
    expect(expectLocked((await ask(user.phone)).page)).toBe(24 * 3600 - 240);
    expect(app().sms.messages).toEqual([]);
  });

  it('O56 A day later the user signs in', async () => {
    await prepare(user.phone, 99);
    await failTimes(user.phone, 1);
    app().clock.advance(24 * HOUR - 1);
    expect(expectLocked((await ask(user.phone)).page)).toBe(1);
    app().clock.advance(1);
    expectSignedIn(await succeed(await ask(user.phone)));
  });

  it('O56 A day later the count starts again, and the next hundred close it again', async () => {
    await prepare(user.phone, 99);
    await failTimes(user.phone, 1);
    app().clock.advance(24 * HOUR);
    await failTimes(user.phone, 100);
    expectLocked((await ask(user.phone)).page);
  });

  it('O56 A right code before the hundredth starts the count again', async () => {
    await prepare(user.phone, 98);
    const asked = await ask(user.phone);
    expectPage(await fail(asked), 400);
    expectSignedIn(await succeed(asked));
    await failTimes(user.phone, 5);
    const rows = app().dataSource.getRepository(OtpFailures);
    expect(await rows.findOneBy({ phone: user.phone })).toMatchObject({ failures: 5 });
    expectSignedIn(await succeed(await ask(user.phone)));
    expect(await rows.countBy({ phone: user.phone })).toBe(0);
  });

  it('O56 They add up over browsers and requests, and days', async () => {
    await failTimes(user.phone, 7);
    app().clock.advance(20 * 24 * HOUR);
    await failTimes(user.phone, 6);
    const rows = app().dataSource.getRepository(OtpFailures);
    expect(await rows.findOneBy({ phone: user.phone })).toMatchObject({ failures: 13 });
  });

  it('O56 What is not compared does not count', async () => {
    const asked = await ask(user.phone);
    for (let by = 1; by <= 9; by += 1) await fail(asked, by);
    await asked.visitor.submit(asked.page, VERIFY, { code: 'abcdef' });
    const late = await ask(user.phone);
    app().clock.advance(5 * MINUTE);
    await fail(late);
    const rows = app().dataSource.getRepository(OtpFailures);
    expect(await rows.findOneBy({ phone: user.phone })).toMatchObject({ failures: 5 });
  });

  it('O56 A phone that nobody has is closed the same way, without a word in the audit log', async () => {
    const before = (await lockEvents()).length;
    await prepare(NOBODYS, 98);
    const asked = await ask(NOBODYS);
    expectPage(await fail(asked), 400);
    expectPage(await fail(asked), 400);
    expect(expectLocked(await fail(asked))).toBe(24 * 3600);
    expect(expectLocked((await ask(NOBODYS)).page)).toBe(24 * 3600);
    expect(await lockEvents()).toHaveLength(before);
  });

  it('O56 The audit log tells of the user once, and never the phone', async () => {
    await prepare(user.phone, 99);
    await failTimes(user.phone, 1);
    expectLocked((await ask(user.phone)).page);
    const events = (await lockEvents()).filter(({ subject }) => subject === user.id);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ actor: 'service', address: '127.0.0.1' });
    expect(JSON.stringify(events)).not.toContain(user.phone);
  });

  it('O56 Of many at once, none after the hundredth wrong one gets through, nor is counted', async () => {
    const asked: Asked[] = [];
    for (let each = 0; each < 6; each += 1) asked.push(await ask(user.phone));
    await prepare(user.phone, 90);
    const guesses = asked.flatMap((one) => [1, 2, 3, 4, 5].map((by) => fail(one, by)));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 400)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(20);
    const rows = app().dataSource.getRepository(OtpFailures);
    expect(await rows.findOneBy({ phone: user.phone })).toMatchObject({ failures: 100 });
  });

  it('O56 The first wrong ones of a phone count exactly, too, when they come at once', async () => {
    const asked: Asked[] = [];
    for (let each = 0; each < 4; each += 1) asked.push(await ask(user.phone));
    const guesses = asked.flatMap((one) => [1, 2, 3, 4, 5].map((by) => fail(one, by)));
    for (const page of await Promise.all(guesses)) expectPage(page, 400);
    const rows = app().dataSource.getRepository(OtpFailures);
    expect(await rows.findOneBy({ phone: user.phone })).toMatchObject({ failures: 20 });
  });

  it('O56 Another phone stays open', async () => {
    await prepare(user.phone, 99);
    await failTimes(user.phone, 1);
    const other = await app().addUser();
    expectSignedIn(await succeed(await ask(other.phone)));
  });

  it('O56 Unlocked by the operator, the user signs in at once', async () => {
    await prepare(user.phone, 99);
    await failTimes(user.phone, 1);
    const lifted = await app().service(PhoneLock).lift(user.id, { actor: 'olga' });
    expect(lifted).toEqual({ locked: true, failures: 100 });
    expectSignedIn(await succeed(await ask(user.phone)));
  });
});
