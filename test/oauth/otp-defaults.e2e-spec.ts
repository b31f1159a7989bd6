import type { User } from '../../src/modules/users/user.entity.js';
import { type Page, Browser } from '../support/browser.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { concurrently } from '../support/cluster.js';
import { onOneEngine } from '../support/database.js';
import { expectPage } from '../support/responses.js';
import { EVERY_LIMIT, type TestClient, useTestApp } from '../support/test-app.js';

const SIGN_IN = '/oauth/authorize/sign-in';
const VERIFY = '/oauth/authorize/verify';
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** The pause between two messages, with the slot that is just leaving it. */
const PAUSE = 61 * SECOND;

onOneEngine('One-time passwords with the budgets that nobody changed', (database) => {
  const app = useTestApp(database, EVERY_LIMIT);
  let client: TestClient;
  let user: User;
  let visitor: Browser;

  beforeEach(async () => {
    app().clock.advance(48 * HOUR);
    client = await app().addClient();
    user = await app().addUser();
    visitor = new Browser(app());
  });

  async function ask(phone = user.phone, from = new Browser(app())): Promise<Page> {
    return from.submit(await from.open(authorizeLink(client)), SIGN_IN, { phone });
  }

  function received(): number {
    return app().sms.count(user.phone);
  }

  /** The password of the message that `page` told of, when it is the one with this number. */
  async function password(page: Page, number: number): Promise<string> {
    expectPage(page, 200);
    return app().sms.password(user.phone, number - 1);
  }

  async function fail(page: Page, code: string, times: number): Promise<void> {
    for (let by = 1; by <= times; by += 1) {
      const wrong = String((Number(code) + by) % 1_000_000).padStart(6, '0');
      expectPage(await visitor.submit(page, VERIFY, { code: wrong }), 400);
    }
  }

  it('O48 A phone has ten wrong codes in fifteen minutes, however often a new one is sent', async () => {
    const page = await ask(user.phone, visitor);
    let code = await password(page, 1);
    for (const [index, times] of [3, 5, 2].entries()) {
      if (index > 0) {
        app().clock.advance(PAUSE);
        code = await password(await visitor.submit(page, SIGN_IN), index + 1);
      }
      await fail(page, code, times);
    }
    const refused = await visitor.submit(page, VERIFY, { code });
    expectPage(refused, 429);
    expect(refused.html).toContain('Too many attempts');
  });

  it('O49 A second message within sixty seconds is refused, and the first code still works', async () => {
    const page = await ask(user.phone, visitor);
    const code = await password(page, 1);
    app().clock.advance(59 * SECOND);
    const again = await visitor.submit(page, SIGN_IN);
    expectPage(again, 429);
    expect(Number(again.headers.get('retry-after'))).toBeLessThanOrEqual(2);
    const done = await visitor.submit(again, VERIFY, { code });
    expect(done.html).toContain('name="decision"');
    expect(received()).toBe(1);
  });

  it('O51 A hundred visitors at once with one phone get one message', async () => {
    const pages = await concurrently(100, () => ask());
    expect(pages.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const page of pages) expectPage(page, page.status === 200 ? 200 : 429);
    const witness = await app().addUser();
    expectPage(await ask(witness.phone), 200);
    await app().sms.password(witness.phone);
    expect(received()).toBe(1);
  }, 60_000);

  it('O52 A phone gets five messages an hour and ten a day', async () => {
    const statuses: number[] = [];
    for (let hour = 1; hour <= 3; hour += 1) {
      for (let each = 1; each <= 6; each += 1) {
        statuses.push((await ask()).status);
        app().clock.advance(2 * MINUTE);
      }
      app().clock.advance(HOUR);
    }
    const five = Array<number>(5).fill(200);
    expect(statuses).toEqual([...five, 429, ...five, ...Array<number>(7).fill(429)]);
  });

  it('O52 An address asks for twenty messages an hour', async () => {
    for (let each = 1; each <= 20; each += 1) expectPage(await ask(`+1415555${3000 + each}`), 200);
    expectPage(await ask(), 429);
    app().clock.advance(HOUR + MINUTE);
    expectPage(await ask(), 200);
  });

  it('O56 A hundred wrong codes in a row close the phone for a day', async () => {
    for (let message = 1; message <= 20; message += 1) {
      const page = await ask(user.phone, visitor);
      await fail(page, await password(page, message), 5);
      app().clock.advance(3 * HOUR);
    }
    for (const page of [await ask(user.phone, visitor), await ask()]) {
      expectPage(page, 429);
      expect(page.headers.get('retry-after')).toBe(String(21 * 3600));
    }
    expect(received()).toBe(20);
    app().clock.advance(21 * HOUR);
    const page = await ask(user.phone, visitor);
    const done = await visitor.submit(page, VERIFY, { code: await password(page, 21) });
    expect(done.html).toContain('name="decision"');
  });

  it('O57 A browser that signed in before has one message and five tries of its own', async () => {
    await visitor.signIn(authorizeLink(client), user);
    visitor.cookies.delete('session');
    app().clock.advance(2 * HOUR);
    for (let message = 2; message <= 6; message += 1) {
      expectPage(await ask(), 200);
      await app().sms.password(user.phone, message - 1);
      app().clock.advance(2 * MINUTE);
    }
    expectPage(await ask(), 429);
    const page = await ask(user.phone, visitor);
    await fail(page, await password(page, 7), 4);
    expectPage(await ask(user.phone, visitor), 429);
    const code = await app().sms.password(user.phone);
    expect((await visitor.submit(page, VERIFY, { code })).html).toContain('name="decision"');
  });
});
