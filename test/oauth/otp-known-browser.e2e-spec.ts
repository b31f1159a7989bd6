import { KnownBrowser } from '../../src/modules/oauth/sign-in/known-browser.entity.js';
import { OtpFailures } from '../../src/modules/oauth/sign-in/otp-failures.entity.js';
import type { User } from '../../src/modules/users/user.entity.js';
import { type Page, Browser } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { expectPage } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const SIGN_IN = '/oauth/authorize/sign-in';
const VERIFY = '/oauth/authorize/verify';
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

onOneEngine('A browser in which somebody signed in before', (database) => {
  const app = useTestApp(database, {
    OTP_RESEND_SECONDS: '60',
    OTP_PHONE_HOURLY: '5',
    OTP_PHONE_DAILY: '10',
    OTP_PHONE_FAILURES: '10',
    OTP_ADDRESS_HOURLY: '30',
  });
  let client: TestClient;
  let user: User;
  let owner: Browser;

  beforeEach(async () => {
    app().clock.advance(2 * DAY);
    client = await app().addClient();
    user = await app().addUser();
    owner = new Browser(app());
    await owner.signIn(authorizeLink(client), user);
    owner.cookies.delete('session');
    app().clock.advance(20 * MINUTE);
    app().sms.messages.length = 0;
  });

  async function ask(visitor: Browser, phone = user.phone): Promise<Page> {
    return visitor.submit(await visitor.open(authorizeLink(client)), SIGN_IN, { phone });
  }

  function wrongFor(code: string, by: number): string {
    return String((Number(code) + by) % 1_000_000).padStart(6, '0');
  }

  /** A stranger asks until the phone's messages are spent. */
  async function spendSends(): Promise<void> {
    while ((await ask(new Browser(app()))).status === 200) app().clock.advance(2 * MINUTE);
  }

  async function newest(sent: number): Promise<string> {
    await expect.poll(() => app().sms.messages).toHaveLength(sent);
    return app().sms.password(user.phone);
  }

  /** A stranger guesses until the phone's guesses are spent. */
  async function spendGuesses(): Promise<void> {
    for (let message = 1; message <= 2; message += 1) {
      const stranger = new Browser(app());
      const page = await ask(stranger);
      const code = await newest(message);
      for (let by = 1; by <= 5; by += 1)
        expectPage(await stranger.submit(page, VERIFY, { code: wrongFor(code, by) }), 400);
      app().clock.advance(2 * MINUTE);
    }
    app().sms.messages.length = 0;
  }

  it('O57 It gets a message when strangers spent all of the hour, and they get none', async () => {
    await spendSends();
    const before = app().sms.messages.length;
    expectPage(await ask(new Browser(app())), 429);
    const page = await ask(owner);
    expectPage(page, 200);
    const code = await newest(before + 1);
    const done = await owner.submit(page, VERIFY, { code });
    expect(done.html).toContain('name="decision"');
  });

  it('O57 It gets a message within the minute after a stranger asked for one', async () => {
    expectPage(await ask(new Browser(app())), 200);
    expectPage(await ask(owner), 200);
    await newest(2);
  });

  it('O57 That is one message in fifteen minutes', async () => {
    await spendSends();
    expectPage(await ask(owner), 200);
    const refused = await ask(owner);
    expectPage(refused, 429);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(14 * 60);
    expect(seconds).toBeLessThanOrEqual(15.25 * 60);
    app().clock.advance(seconds * 1000);
    expectPage(await ask(owner), 200);
  });

  it('O57 A second click within the minute sends no second message', async () => {
    const page = await ask(owner);
    await newest(1);
    const again = await owner.submit(page, SIGN_IN);
    expectPage(again, 429);
    expect(again.html).toContain('still works');
    const done = await owner.submit(again, VERIFY, { code: await newest(1) });
    expect(done.html).toContain('name="decision"');
  });

  it('O57 It has five guesses when strangers spent the ten of the phone, and they have none', async () => {
    const stranger = new Browser(app());
    const strangers = await ask(stranger);
    const theirs = await newest(1);
    app().clock.advance(2 * MINUTE);
    app().sms.messages.length = 0;
    await spendGuesses();
    app().clock.advance(-2 * MINUTE);
    expectPage(await stranger.submit(strangers, VERIFY, { code: theirs }), 429);
    expectPage(await ask(new Browser(app())), 429);
    app().clock.advance(2 * MINUTE);
    const page = await ask(owner);
    const code = await newest(1);
    for (let by = 1; by <= 4; by += 1)
      expectPage(await owner.submit(page, VERIFY, { code: wrongFor(code, by) }), 400);
    const done = await owner.submit(page, VERIFY, { code });
    expect(done.html).toContain('name="decision"');
  });

  it('O57 After these five it is sent no message that it could not use', async () => {
    await spendGuesses();
    const first = await ask(owner);
    const spent = await newest(1);
    for (let by = 1; by <= 5; by += 1)
      expectPage(await owner.submit(first, VERIFY, { code: wrongFor(spent, by) }), 400);
    app().clock.advance(2 * MINUTE);
    expectPage(await ask(owner), 429);
    expect(app().sms.messages).toHaveLength(1);
  });

  it('O47 Five guesses at one code are all that it has, too', async () => {
    const page = await ask(owner);
    const code = await newest(1);
    for (let by = 1; by <= 5; by += 1)
      expectPage(await owner.submit(page, VERIFY, { code: wrongFor(code, by) }), 400);
    const refused = await owner.submit(page, VERIFY, { code });
    expectPage(refused, 400);
    expect(refused.html).not.toContain('name="decision"');
  });

  it('O57 Its address has no more messages than others', async () => {
    for (let each = 0; each < 40; each += 1)
      await ask(new Browser(app()), `+141555562${10 + each}`);
    expectPage(await ask(owner), 429);
    expect(app().sms.messages).toEqual([]);
  });

  it('O57 It is closed with the phone after a hundred wrong codes', async () => {
    const page = await ask(owner);
    const lockedUntil = new Date(app().clock.now().getTime() + DAY);
    const row = { phone: user.phone, failures: 100, lastAt: app().clock.now(), lockedUntil };
    await app().dataSource.getRepository(OtpFailures).save(row);
    expectPage(await owner.submit(page, VERIFY, { code: await newest(1) }), 429);
    expectPage(await ask(owner), 429);
  });

  it('O57 It is known for the phone that signed in, and for no other', async () => {
    const other = await app().addUser();
    expectPage(await ask(new Browser(app()), other.phone), 200);
    expectPage(await ask(owner, other.phone), 429);
  });

  it('O57 A code that is not right makes no browser known', async () => {
    const stranger = new Browser(app());
    const page = await ask(stranger);
    await stranger.submit(page, VERIFY, { code: wrongFor(await newest(1), 1) });
    const known = app().dataSource.getRepository(KnownBrowser);
    expect(await known.countBy({ phone: user.phone })).toBe(1);
  });

  it('O57 Signing in again in it moves its date', async () => {
    const known = app().dataSource.getRepository(KnownBrowser);
    const [before] = await known.findBy({ phone: user.phone });
    await owner.signIn(authorizeLink(client), user);
    const after = await known.findBy({ phone: user.phone });
    expect(after).toEqual([{ ...before, signedInAt: app().clock.now() }]);
    expect(before?.signedInAt).not.toEqual(after[0]?.signedInAt);
  });
});
