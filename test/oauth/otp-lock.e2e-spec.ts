import { In } from 'typeorm';
import { SECOND, MINUTE, HOUR } from '../../src/platform/clock.js';
import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { failuresKey, OtpFailures } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import { Retention } from '../../src/modules/operations/retention.js';
import { PhoneLimits } from '../../src/modules/oauth/sign-in/phone-limits.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { type Page, Browser } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { expectPage } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';
import { VERIFY, submitPhone, wrongCode, expectConsentPage } from '../support/sign-in.js';

/** Longer than the pause between two messages to one phone. */
const MESSAGE_PAUSE = 61 * SECOND;
/** Phone numbers without a user. */
const UNKNOWN_PHONE = '+14155559931';
const OTHER_UNKNOWN_PHONE = '+14155559932';
const OLD_UNKNOWN_PHONE = '+14155559933';
const UNKNOWN_PHONES = [UNKNOWN_PHONE, OTHER_UNKNOWN_PHONE, OLD_UNKNOWN_PHONE];

/** The page that asks for a code, and the right code if the phone has a user and the service sent one. */
interface CodeRequest {
  visitor: Browser;
  page: Page;
  code: string;
}

onOneEngine('Phone lock after a hundred wrong codes', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let user: UserWithPhone;

  beforeEach(async () => {
    app().clock.advance(48 * HOUR);
    client = await app().addClient();
    user = await app().addUser();
  });

  /** Advances the clock by `MESSAGE_PAUSE` and requests a code in a new browser. */
  async function requestCode(phone: string): Promise<CodeRequest> {
    const visitor = new Browser(app());
    app().clock.advance(MESSAGE_PAUSE);
    app().sms.messages.length = 0;
    const page = await submitPhone(visitor, authorizeLink(client), phone);
    const code =
      UNKNOWN_PHONES.includes(phone) || page.status !== 200 ? '' : await app().sms.password(phone);
    return { visitor, page, code };
  }

  function sendWrongCode({ visitor, page, code }: CodeRequest, offset = 1): Promise<Page> {
    return visitor.submit(page, VERIFY, { code: wrongCode(code, offset) });
  }

  /** Sends this number of wrong codes, at most three for each message. */
  async function failTimes(phone: string, times: number): Promise<void> {
    for (let left = times; left > 0; left -= 3) {
      const request = await requestCode(phone);
      for (let offset = 1; offset <= Math.min(left, 3); offset += 1)
        expectPage(await sendWrongCode(request, offset), 400);
    }
  }

  function sendRightCode({ visitor, page, code }: CodeRequest): Promise<Page> {
    return visitor.submit(page, VERIFY, { code });
  }

  /** Asserts the page of a locked phone. */
  function expectLocked(page: Page): void {
    expectPage(page, 429);
    expect(page.html).toContain('Too many attempts');
    expect(page.html).toContain('ask support');
    expect(page.headers.get('retry-after')).toBeNull();
  }

  /** Stores this number of failures: a hundred real ones take days, see `phone-limits`. */
  async function storeFailures(
    phone: string,
    failures: number,
    lockedUntil: Date | null = null,
  ): Promise<void> {
    const rows = app().dataSource.getRepository(OtpFailures);
    const key = failuresKey(app().config, phone);
    await rows.save({ phone: key, failures, lastAttemptAt: app().clock.now(), lockedUntil });
  }

  async function failuresOf(phone: string): Promise<number | undefined> {
    const key = { phone: failuresKey(app().config, phone) };
    return (await app().dataSource.getRepository(OtpFailures).findOneBy(key))?.failures;
  }

  const countLockEvents = (): Promise<number> =>
    app().dataSource.manager.countBy(AuditEvent, { action: 'otp.locked' });

  it('O56 O144 locks the phone, for right codes and for new messages, and no other phone', async () => {
    await storeFailures(user.phone, 99);
    const request = await requestCode(user.phone);
    expectPage(await sendWrongCode(request), 400);
    const events = await auditTrail(app().dataSource, user.id);
    expect(events).toContainEqual(expect.objectContaining({ action: 'otp.locked' }));
    expectLocked(await sendRightCode(request));
    app().clock.advance(4 * MINUTE);
    expectLocked(await sendRightCode(request));
    expectLocked((await requestCode(user.phone)).page);
    expect(app().sms.messages).toEqual([]);
    const otherUser = await app().addUser();
    expectConsentPage(await sendRightCode(await requestCode(otherUser.phone)));
  });

  it('O56 keeps the count for 90 days, and the lock for 400, when expired rows are pruned', async () => {
    await storeFailures(user.phone, 99);
    app().clock.advance(89 * 24 * HOUR);
    await app().service(Retention).run();
    await failTimes(user.phone, 1);
    app().clock.advance(399 * 24 * HOUR);
    await app().service(Retention).run();
    expectLocked((await requestCode(user.phone)).page);
    app().clock.advance(24 * HOUR);
    await app().service(Retention).run();
    expectConsentPage(await sendRightCode(await requestCode(user.phone)));
  });

  it('O56 counts from zero after a lock of version 1.0 ended', async () => {
    await storeFailures(user.phone, 100, new Date(app().clock.now().getTime() - 1));
    await failTimes(user.phone, 1);
    expect(await failuresOf(user.phone)).toBe(1);
  });

  it('O56 counts from zero after a right code', async () => {
    await storeFailures(user.phone, 98);
    const request = await requestCode(user.phone);
    expectPage(await sendWrongCode(request), 400);
    expectConsentPage(await sendRightCode(request));
    await failTimes(user.phone, 5);
    expect(await failuresOf(user.phone)).toBe(5);
    expectConsentPage(await sendRightCode(await requestCode(user.phone)));
    expect(await failuresOf(user.phone)).toBeUndefined();
  });

  it('O56 counts over browsers, requests and days, but no code that is not compared', async () => {
    await failTimes(user.phone, 7);
    app().clock.advance(20 * 24 * HOUR);
    const request = await requestCode(user.phone);
    // The service compares three codes for each message.
    for (let offset = 1; offset <= 9; offset += 1) await sendWrongCode(request, offset);
    await request.visitor.submit(request.page, VERIFY, { code: 'abcdef' });
    const late = await requestCode(user.phone);
    app().clock.advance(5 * MINUTE);
    await sendWrongCode(late);
    expect(await failuresOf(user.phone)).toBe(7 + 3);
  });

  it('O56 locks a phone without a user the same way, without an audit event', async () => {
    const before = await countLockEvents();
    await storeFailures(UNKNOWN_PHONE, 98);
    const request = await requestCode(UNKNOWN_PHONE);
    expectPage(await sendWrongCode(request), 400);
    expectPage(await sendWrongCode(request), 400);
    expectLocked(await sendWrongCode(request));
    expectLocked((await requestCode(UNKNOWN_PHONE)).page);
    expect(await countLockEvents()).toBe(before);
  });

  const threeWrongCodesEach = (requests: CodeRequest[]): Promise<Page[]> =>
    Promise.all(requests.flatMap((one) => [1, 2, 3].map((offset) => sendWrongCode(one, offset))));

  it('O56 rejects and does not count concurrent codes after the hundredth wrong one', async () => {
    const requests: CodeRequest[] = [];
    for (let each = 0; each < 4; each += 1) requests.push(await requestCode(user.phone));
    // The lock accepts five more codes. The limit of ten wrong codes in fifteen minutes would accept ten.
    await storeFailures(user.phone, 95);
    const pages = await threeWrongCodesEach(requests);
    expect(pages.filter(({ status }) => status === 400)).toHaveLength(5);
    const rejected = pages.filter(({ status }) => status !== 400);
    expect(rejected).toHaveLength(7);
    for (const page of rejected) expectPage(page, 429);
    expect(rejected.some(({ html }) => html.includes('ask support'))).toBe(true);
    expect(await failuresOf(user.phone)).toBe(100);
  });

  it('O56 counts each of the first wrong codes of a phone once, even if they are concurrent', async () => {
    const requests = [await requestCode(user.phone), await requestCode(user.phone)];
    for (const page of await threeWrongCodesEach(requests)) expectPage(page, 400);
    expect(await failuresOf(user.phone)).toBe(6);
  });

  it('O56 stores no phone number, with or without a user', async () => {
    for (const phone of [user.phone, OTHER_UNKNOWN_PHONE]) await failTimes(phone, 1);
    const rows = await app().dataSource.manager.find(OtpFailures);
    expect(rows.length).toBeGreaterThan(1);
    for (const row of rows) expect(row.phone).toMatch(/^[\w-]{16}$/);
  });

  it('O56 continues the count of version 1.1, which stored the number itself, and hashes the number', async () => {
    const rows = app().dataSource.getRepository(OtpFailures);
    const old = { failures: 98, lastAttemptAt: app().clock.now(), lockedUntil: null };
    await rows.insert([
      { ...old, phone: user.phone },
      { ...old, phone: OLD_UNKNOWN_PHONE },
    ]);
    await storeFailures(user.phone, 1);
    const request = await requestCode(user.phone);
    expectPage(await sendWrongCode(request), 400);
    expectLocked(await sendRightCode(request));
    await app().service(Retention).run();
    expect(await failuresOf(OLD_UNKNOWN_PHONE)).toBe(98);
    expect(await rows.countBy({ phone: In([user.phone, OLD_UNKNOWN_PHONE]) })).toBe(0);
  });

  it('O56 keeps a lock of version 1.1', async () => {
    const lockedUntil = new Date('9999-12-31T00:00:00Z');
    const locked = { failures: 100, lastAttemptAt: app().clock.now(), lockedUntil };
    await app().dataSource.manager.insert(OtpFailures, { ...locked, phone: user.phone });
    expectLocked((await requestCode(user.phone)).page);
    const unlocked = await app().service(PhoneLimits).unlock(user.id, { actor: 'olga' });
    expect(unlocked).toEqual({ locked: true, failures: 100 });
  });

  it('O56 signs in the user after the operator unlocked the phone', async () => {
    await storeFailures(user.phone, 99);
    await failTimes(user.phone, 1);
    const unlocked = await app().service(PhoneLimits).unlock(user.id, { actor: 'olga' });
    expect(unlocked).toEqual({ locked: true, failures: 100 });
    expectConsentPage(await sendRightCode(await requestCode(user.phone)));
  });
});
