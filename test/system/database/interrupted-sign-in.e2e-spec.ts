import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { OtpChallenge } from '../../../src/modules/oauth/sign-in/otp-challenge.entity.js';
import { SmsQueue } from '../../../src/modules/oauth/sign-in/sms-queue.js';
import type { User } from '../../../src/modules/users/user.entity.js';
import { type Page, Browser } from '../../support/browser.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { onEachServer } from '../../support/database.js';
import { expectPage } from '../../support/responses.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { TestApp, type TestClient } from '../../support/test-app.js';

/** Less than anybody waits for the database. */
const LOOKED_MS = 500;

onEachServer('A sign-in in which the database is lost', (database) => {
  let proxy: TcpProxy;
  let app: TestApp;
  let other: mysql.Connection;
  let client: TestClient;
  let user: User;
  let visitor: Browser;

  beforeAll(async () => {
    proxy = await TcpProxy.start(database.url);
    // Whatever were used up would be missed at once.
    const env = { DB_TIMEOUT_MS: '1000', OTP_PHONE_FAILURES: '1', OTP_PHONE_HOURLY: '1' };
    app = await TestApp.start({ ...database, url: proxy.url }, env);
    other = await mysql.createConnection(database.url);
  });
  afterAll(async () => {
    await other?.end();
    await proxy?.mend();
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
    await proxy.mend();
  });

  const sendPhone = (page: Page): Promise<Page> =>
    visitor.submit(page, '/oauth/authorize/sign-in', { phone: user.phone });
  const typeIn = (page: Page, code: string): Promise<Page> =>
    visitor.submit(page, '/oauth/authorize/verify', { code });
  const allow = (page: Page): Promise<Page> =>
    visitor.submit(page, '/oauth/authorize/decision', {
      scope: [...client.scopes],
      decision: 'approve',
    });
  const wrong = (code: string): string => (code === '000000' ? '000001' : '000000');

  /** Others wait for the table, as during an ALTER TABLE. */
  const hold = (table: string): Promise<unknown> => other.query(`LOCK TABLES ${table} READ`);
  const letGo = (): Promise<unknown> => other.query('UNLOCK TABLES');

  async function passwordPage(): Promise<{ page: Page; code: string }> {
    const page = await sendPhone(await visitor.open(authorizeLink(client)));
    return { page, code: await app.sms.password(user.phone) };
  }

  function expectUnavailable(page: Page): void {
    expectPage(page, 503);
    expect(page.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  }

  /** No code is exchanged: what is noted of that in the background would have a COMMIT, too. */
  async function expectConsent(page: Page): Promise<void> {
    expect((await allow(page)).location).toMatch(/[?&]code=svcac_/);
  }

  it.each(['otp_challenges', 'throttle_hits'])(
    'O68 Sends the message when it is asked for again, though %s could not be written',
    async (table) => {
      const page = await visitor.open(authorizeLink(client));
      await hold(table);
      expectUnavailable(await sendPhone(page));
      expectUnavailable(await sendPhone(page));
      expect(app.sms.count(user.phone)).toBe(0);
      await letGo();
      const codePage = await sendPhone(page);
      expectPage(codePage, 200);
      await expectConsent(await typeIn(codePage, await app.sms.password(user.phone)));
    },
  );

  it('O68 Sends the message beside the request when the end of making it was not heard', async () => {
    const page = await visitor.open(authorizeLink(client));
    proxy.cutAfterStatement('COMMIT');
    expectUnavailable(await sendPhone(page));
    await proxy.mend();
    const code = await app.sms.password(user.phone);
    const again = await sendPhone(page);
    expectPage(again, 429);
    await expectConsent(await typeIn(again, code));
    expect(app.sms.count(user.phone)).toBe(1);
  });

  it('O68 Sends the message beside the request when the end of making it took longer than anybody waits', async () => {
    const page = await visitor.open(authorizeLink(client));
    proxy.holdBack('COMMIT');
    expectUnavailable(await sendPhone(page));
    // So long that the first look at what is stored comes before the COMMIT.
    await sleep(LOOKED_MS);
    await proxy.mend();
    const code = await app.sms.password(user.phone);
    await expectConsent(await typeIn(await sendPhone(page), code));
    expect(app.sms.count(user.phone)).toBe(1);
  });

  it('O68 Sends one message, of the password that is stored, when the end of making it was not sent', async () => {
    const page = await visitor.open(authorizeLink(client));
    proxy.cutBefore('COMMIT');
    expectUnavailable(await sendPhone(page));
    await proxy.mend();
    const codePage = await sendPhone(page);
    expectPage(codePage, 200);
    const code = await app.sms.password(user.phone);
    await app.service(SmsQueue).idle();
    expect(app.sms.count(user.phone)).toBe(1);
    await expectConsent(await typeIn(codePage, code));
  });

  it.each(['otp_challenges', 'known_browsers', 'sign_in_sessions', 'authorizations'])(
    'O68 Takes the right password when it comes again, though %s could not be written',
    async (table) => {
      const { page, code } = await passwordPage();
      await hold(table);
      expectUnavailable(await typeIn(page, code));
      expectUnavailable(await typeIn(page, code));
      await letGo();
      const { attempts } = await app.dataSource.manager.findOneByOrFail(OtpChallenge, {
        phone: user.phone,
      });
      expect(attempts).toBe(0);
      await expectConsent(await typeIn(page, code));
    },
  );

  it('O68 Does not count a wrong password that could not be counted, and counts the next', async () => {
    const { page, code } = await passwordPage();
    await hold('otp_failures');
    expectUnavailable(await typeIn(page, wrong(code)));
    await letGo();
    expectPage(await typeIn(page, wrong(code)), 400);
    expectPage(await typeIn(page, code), 429);
  });

  it('O68 Takes the right password when it comes again, though its end was not sent', async () => {
    const { page, code } = await passwordPage();
    proxy.cutBefore('COMMIT');
    expectUnavailable(await typeIn(page, code));
    await proxy.mend();
    await expectConsent(await typeIn(page, code));
  });

  it('O68 Leads on when the form comes again, though its end was not heard', async () => {
    const { page, code } = await passwordPage();
    proxy.cutAfterStatement('COMMIT');
    expectUnavailable(await typeIn(page, code));
    await proxy.mend();
    await expectConsent(await typeIn(page, code));
  });

  it('O68 Is not signed in by a wrong password whose end was not heard', async () => {
    const { page, code } = await passwordPage();
    proxy.cutAfterStatement('COMMIT');
    expectUnavailable(await typeIn(page, wrong(code)));
    await proxy.mend();
    expect([...visitor.cookies.keys()]).toEqual(['browser']);
    expectPage(await typeIn(page, code), 429);
  });

  it('O68 Is told that it was answered when the end of the decision was not heard, and may begin again', async () => {
    const { page, code } = await passwordPage();
    const consent = await typeIn(page, code);
    proxy.cutAfterStatement('COMMIT');
    expectUnavailable(await allow(consent));
    await proxy.mend();
    expectPage(await allow(consent), 409);
    await expectConsent(await visitor.open(authorizeLink(client)));
  });
});
