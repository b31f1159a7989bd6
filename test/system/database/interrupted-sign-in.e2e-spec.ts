import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { OtpChallenge } from '../../../src/modules/oauth/sign-in/sign-in.entities.js';
import { SmsQueue } from '../../../src/modules/oauth/sign-in/sms/sms-queue.js';
import type { User } from '../../../src/modules/users/user.entity.js';
import { type Page, Browser } from '../../support/browser.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { onEachServer } from '../../support/database.js';
import { expectPage } from '../../support/responses.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { rateLimits, TestApp, type TestClient } from '../../support/test-app.js';

/** Less than the database timeout. */
const FIRST_CHECK_MS = 500;

onEachServer('Loss of the database during a sign-in', (database) => {
  let proxy: TcpProxy;
  let app: TestApp;
  let other: mysql.Connection;
  let client: TestClient;
  let user: User;
  let visitor: Browser;

  beforeAll(async () => {
    proxy = await TcpProxy.start(database.url);
    const env = {
      DB_TIMEOUT_MS: '1000',
      // With limits of one, a message or guess that is counted by mistake makes the next step fail.
      ...rateLimits({ 'phone-failures': 1, 'phone-messages-per-hour': 1 }),
    };
    app = await TestApp.start({ ...database, url: proxy.url }, env);
    other = await mysql.createConnection(database.url);
  });
  afterAll(async () => {
    await other?.end();
    await proxy?.repair();
    await app?.stop();
    await proxy?.stop();
  });
  beforeEach(async () => {
    client = await app.addClient();
    user = await app.addUser();
    visitor = new Browser(app);
  });
  afterEach(async () => {
    await other.query('UNLOCK TABLES');
    await proxy.repair();
  });

  const sendPhone = (page: Page): Promise<Page> =>
    visitor.submit(page, '/oauth/authorize/sign-in', { phone: user.phone });
  const enterCode = (page: Page, code: string): Promise<Page> =>
    visitor.submit(page, '/oauth/authorize/verify', { code });
  const allow = (page: Page): Promise<Page> =>
    visitor.submit(page, '/oauth/authorize/decision', {
      scope: [...client.scopes],
      decision: 'approve',
    });
  const wrong = (code: string): string => (code === '000000' ? '000001' : '000000');

  /** Makes other transactions wait for the table, as during an ALTER TABLE. */
  const lock = (table: string): Promise<unknown> => other.query(`LOCK TABLES ${table} READ`);
  const unlock = (): Promise<unknown> => other.query('UNLOCK TABLES');

  async function openCodePage(): Promise<{ page: Page; code: string }> {
    const page = await sendPhone(await visitor.open(authorizeLink(client)));
    return { page, code: await app.sms.password(user.phone) };
  }

  function expectUnavailable(page: Page): void {
    expectPage(page, 503);
    expect(page.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  }

  /** Does not exchange the code: the background writes of an exchange would have another COMMIT. */
  async function expectConsent(page: Page): Promise<void> {
    expect((await allow(page)).location).toMatch(/[?&]code=svcac_/);
  }

  it.each(['otp_challenges', 'throttle_hits'])(
    'O68 sends the message on a retry after %s could not be written',
    async (table) => {
      const page = await visitor.open(authorizeLink(client));
      await lock(table);
      expectUnavailable(await sendPhone(page));
      expectUnavailable(await sendPhone(page));
      expect(app.sms.count(user.phone)).toBe(0);
      await unlock();
      const codePage = await sendPhone(page);
      expectPage(codePage, 200);
      await expectConsent(await enterCode(codePage, await app.sms.password(user.phone)));
    },
  );

  it('O68 sends the message after an in-doubt commit', async () => {
    const page = await visitor.open(authorizeLink(client));
    proxy.cutAfterStatement('COMMIT');
    expectUnavailable(await sendPhone(page));
    await proxy.repair();
    const code = await app.sms.password(user.phone);
    const again = await sendPhone(page);
    expectPage(again, 429);
    await expectConsent(await enterCode(again, code));
    expect(app.sms.count(user.phone)).toBe(1);
  });

  it('O68 sends the message after a commit that takes longer than the timeout', async () => {
    const page = await visitor.open(authorizeLink(client));
    proxy.holdStatement('COMMIT');
    expectUnavailable(await sendPhone(page));
    // The service checks the outcome for the first time before the COMMIT arrives.
    await sleep(FIRST_CHECK_MS);
    await proxy.repair();
    const code = await app.sms.password(user.phone);
    await expectConsent(await enterCode(await sendPhone(page), code));
    expect(app.sms.count(user.phone)).toBe(1);
  });

  it('O68 sends one message, with the stored password, after a commit that was not sent', async () => {
    const page = await visitor.open(authorizeLink(client));
    proxy.cutBefore('COMMIT');
    expectUnavailable(await sendPhone(page));
    await proxy.repair();
    const codePage = await sendPhone(page);
    expectPage(codePage, 200);
    const code = await app.sms.password(user.phone);
    await app.service(SmsQueue).idle();
    expect(app.sms.count(user.phone)).toBe(1);
    await expectConsent(await enterCode(codePage, code));
  });

  it.each(['otp_challenges', 'known_browsers', 'sign_in_sessions', 'authorizations'])(
    'O68 accepts the correct password on a retry after %s could not be written',
    async (table) => {
      const { page, code } = await openCodePage();
      await lock(table);
      expectUnavailable(await enterCode(page, code));
      expectUnavailable(await enterCode(page, code));
      await unlock();
      const { attempts } = await app.dataSource.manager.findOneByOrFail(OtpChallenge, {
        phone: user.phone,
      });
      expect(attempts).toBe(0);
      await expectConsent(await enterCode(page, code));
    },
  );

  it('O68 ignores a wrong password that could not be counted, and counts the next', async () => {
    const { page, code } = await openCodePage();
    await lock('otp_failures');
    expectUnavailable(await enterCode(page, wrong(code)));
    await unlock();
    expectPage(await enterCode(page, wrong(code)), 400);
    expectPage(await enterCode(page, code), 429);
  });

  it('O68 accepts the correct password on a retry after a commit that was not sent', async () => {
    const { page, code } = await openCodePage();
    proxy.cutBefore('COMMIT');
    expectUnavailable(await enterCode(page, code));
    await proxy.repair();
    await expectConsent(await enterCode(page, code));
  });

  it('O68 continues on a retry after an in-doubt commit of the correct password', async () => {
    const { page, code } = await openCodePage();
    proxy.cutAfterStatement('COMMIT');
    expectUnavailable(await enterCode(page, code));
    await proxy.repair();
    await expectConsent(await enterCode(page, code));
  });

  it('O68 does not sign in after an in-doubt commit of a wrong password', async () => {
    const { page, code } = await openCodePage();
    proxy.cutAfterStatement('COMMIT');
    expectUnavailable(await enterCode(page, wrong(code)));
    await proxy.repair();
    expect([...visitor.cookies.keys()]).toEqual(['browser']);
    expectPage(await enterCode(page, code), 429);
  });

  it('O68 returns 409 for a retry after an in-doubt commit of a decision, and allows a new request', async () => {
    const { page, code } = await openCodePage();
    const consent = await enterCode(page, code);
    proxy.cutAfterStatement('COMMIT');
    expectUnavailable(await allow(consent));
    await proxy.repair();
    expectPage(await allow(consent), 409);
    await expectConsent(await visitor.open(authorizeLink(client)));
  });
});
