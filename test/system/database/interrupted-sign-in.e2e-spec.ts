import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { OtpChallenge } from '../../../src/modules/oauth/sign-in/sign-in.entities.js';
import { SmsQueue } from '../../../src/modules/oauth/sign-in/sms/sms-queue.js';
import type { UserWithPhone } from '../../../src/modules/users/users.service.js';
import { type Page, Browser } from '../../support/browser.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { onEachServer } from '../../support/database.js';
import { expectPage } from '../../support/responses.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { rateLimits, TestApp, type TestClient } from '../../support/test-app.js';

/** How long a test waits, so that the service has begun its first check of an in-doubt commit. Less than the database timeout. */
const FIRST_CHECK_MS = 500;

onEachServer('Loss of the database during a sign-in', (database) => {
  let proxy: TcpProxy;
  let app: TestApp;
  let directConnection: mysql.Connection;
  let client: TestClient;
  let user: UserWithPhone;
  let visitor: Browser;

  beforeAll(async () => {
    proxy = await TcpProxy.start(database.url);
    const env = {
      DB_TIMEOUT_MS: '1000',
      // With limits of one, a message or guess that is counted by mistake makes the next step fail.
      ...rateLimits({ 'phone-failures': 1, 'phone-messages-per-hour': 1 }),
    };
    app = await TestApp.start({ ...database, url: proxy.url }, env);
    directConnection = await mysql.createConnection(database.url);
  });
  afterAll(async () => {
    await directConnection?.end();
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
    await directConnection.query('UNLOCK TABLES');
    await proxy.repair();
  });

  const sendPhone = (page: Page): Promise<Page> =>
    visitor.submit(page, '/oauth/authorize/sign-in', { phone: user.phone });
  const enterPassword = (page: Page, password: string): Promise<Page> =>
    visitor.submit(page, '/oauth/authorize/verify', { code: password });
  const allow = (page: Page): Promise<Page> =>
    visitor.submit(page, '/oauth/authorize/decision', {
      scope: [...client.scopes],
      decision: 'approve',
    });
  const wrongPassword = (password: string): string => (password === '000000' ? '000001' : '000000');

  /** Makes other transactions wait for the table, as during an ALTER TABLE. */
  const lock = (table: string): Promise<unknown> =>
    directConnection.query(`LOCK TABLES ${table} READ`);
  const unlock = (): Promise<unknown> => directConnection.query('UNLOCK TABLES');

  async function openPasswordPage(): Promise<{ page: Page; password: string }> {
    const page = await sendPhone(await visitor.open(authorizeLink(client)));
    return { page, password: await app.sms.password(user.phone) };
  }

  function expectUnavailable(page: Page): void {
    expectPage(page, 503);
    expect(page.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  }

  /**
   * Allows access and expects an authorization code. Does not exchange the code, because the background writes of an exchange
   * would send another COMMIT.
   */
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
      const passwordPage = await sendPhone(page);
      expectPage(passwordPage, 200);
      await expectConsent(await enterPassword(passwordPage, await app.sms.password(user.phone)));
    },
  );

  it.each([
    ['an in-doubt commit', () => proxy.cutAfterStatement('COMMIT'), 0],
    // The service checks the outcome for the first time before the COMMIT arrives.
    [
      'a commit that takes longer than the timeout',
      () => proxy.holdStatement('COMMIT'),
      FIRST_CHECK_MS,
    ],
    ['a COMMIT that did not reach the database', () => proxy.cutBeforeStatement('COMMIT'), 0],
  ] as const)(
    'O68 sends one message, with the stored password, after %s',
    async (_what, fail, pauseMs) => {
      const page = await visitor.open(authorizeLink(client));
      fail();
      expectUnavailable(await sendPhone(page));
      await sleep(pauseMs);
      await proxy.repair();
      // The limit of one message may be reached; the page has the form for the password that was sent.
      const passwordPage = await sendPhone(page);
      expectPage(passwordPage, 200);
      const password = await app.sms.password(user.phone);
      await app.service(SmsQueue).idle();
      expect(app.sms.count(user.phone)).toBe(1);
      await expectConsent(await enterPassword(passwordPage, password));
    },
  );

  it.each(['otp_challenges', 'known_browsers', 'sign_in_sessions', 'authorizations'])(
    'O68 accepts the correct password on a retry after %s could not be written',
    async (table) => {
      const { page, password } = await openPasswordPage();
      await lock(table);
      expectUnavailable(await enterPassword(page, password));
      expectUnavailable(await enterPassword(page, password));
      await unlock();
      const { attempts } = await app.dataSource.manager.findOneByOrFail(OtpChallenge, {
        phone: user.phone,
      });
      expect(attempts).toBe(0);
      await expectConsent(await enterPassword(page, password));
    },
  );

  it('O68 ignores a wrong password that could not be counted, and counts the next', async () => {
    const { page, password } = await openPasswordPage();
    await lock('otp_failures');
    expectUnavailable(await enterPassword(page, wrongPassword(password)));
    await unlock();
    expectPage(await enterPassword(page, wrongPassword(password)), 400);
    expectPage(await enterPassword(page, password), 429);
  });

  it.each(['cutBeforeStatement', 'cutAfterStatement'] as const)(
    'O68 accepts the correct password on a retry after a lost COMMIT (%s)',
    async (cut) => {
      const { page, password } = await openPasswordPage();
      proxy[cut]('COMMIT');
      expectUnavailable(await enterPassword(page, password));
      await proxy.repair();
      await expectConsent(await enterPassword(page, password));
    },
  );

  it('O68 does not sign in after an in-doubt commit of a wrong password', async () => {
    const { page, password } = await openPasswordPage();
    proxy.cutAfterStatement('COMMIT');
    expectUnavailable(await enterPassword(page, wrongPassword(password)));
    await proxy.repair();
    expect([...visitor.cookies.keys()]).toEqual(['browser']);
    expectPage(await enterPassword(page, password), 429);
  });

  it('O68 returns 409 for a retry after an in-doubt commit of a decision, and accepts a new authorization request', async () => {
    const { page, password } = await openPasswordPage();
    const consent = await enterPassword(page, password);
    proxy.cutAfterStatement('COMMIT');
    expectUnavailable(await allow(consent));
    await proxy.repair();
    expectPage(await allow(consent), 409);
    await expectConsent(await visitor.open(authorizeLink(client)));
  });
});
