import { SECOND, DAY } from '../../src/platform/clock.js';
import { formatPhone } from '../../src/modules/users/phone-number.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { Browser, cookieName, type Page, hiddenField } from '../support/browser.js';
import { onOneEngine } from '../support/database.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { expectPage } from '../support/responses.js';
import { DEFAULT_LIMITS, type TestClient, useTestApp } from '../support/test-app.js';
import { SIGN_IN, VERIFY, DECISION, submitPhone, sendWrongCodes } from '../support/sign-in.js';

const APPS = '/account/apps';
const REVOKE = `${APPS}/revoke`;

const UNKNOWN_PHONE = '+14155550999';

/** The seconds until the user may request a new one-time password, as the page says. Undefined if it says nothing. */
function waitOf({ html }: Page): number | undefined {
  const [, seconds] = /data-seconds="(\d+)"/.exec(html) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
}

onOneEngine('Forms of the pages', (database) => {
  const app = useTestApp(database, DEFAULT_LIMITS);
  let client: TestClient;
  let user: UserWithPhone;
  let visitor: Browser;
  let phonePage: Page;

  beforeEach(async () => {
    app().clock.advance(2 * DAY);
    client = await app().addClient();
    user = await app().addUser();
    visitor = new Browser(app());
    phonePage = await visitor.open(authorizeLink(client));
  });

  /** Submits a form and expects a redirect. Returns the path of the page. */
  async function redirectOf(
    page: Page,
    action: string,
    fields: Record<string, string | string[]> = {},
  ): Promise<string> {
    const response = await visitor.submit(page, action, fields, { follow: false });
    expect(response).toMatchObject({ status: 303, html: '' });
    expect(response.headers.get('cache-control')).toBe('no-store');
    return response.location ?? '';
  }

  /** Opens a page twice. Expects the result the first time, and the page alone when it is reloaded. */
  async function expectOnce(path: string, status: number, message: string): Promise<Page> {
    const page = await visitor.open(path);
    expectPage(page, status);
    expect(page.html).toContain(message);
    const reloaded = await visitor.open(path);
    expectPage(reloaded, 200);
    expect(reloaded.html).not.toContain(message);
    return page;
  }

  async function requestCode(): Promise<{ page: Page; path: string; code: string }> {
    const path = await redirectOf(phonePage, SIGN_IN, { phone: user.phone });
    return { page: await visitor.open(path), path, code: await app().sms.password(user.phone) };
  }

  it('O148 shows an invalid phone number again with its message, once', async () => {
    const path = await redirectOf(phonePage, SIGN_IN, { phone: '"415' });
    expect(path).toMatch(/^\/oauth\/authorize\/txn_\w+\/phone$/);
    const page = await expectOnce(path, 400, 'with its country code, like +1 415 555 0100.');
    expect(page.html).toContain('value="&quot;415"');
    expect((await visitor.open(path)).html).toContain('value="&quot;415"');
  });

  it('O150 rejects a long input, whose beginning is the phone number of a user', async () => {
    const path = await redirectOf(phonePage, SIGN_IN, { phone: `${user.phone}${' '.repeat(60)}x` });
    expect(path).toMatch(/\/phone$/);
    expectPage(await visitor.open(path), 400);
    expect(app().sms.count(user.phone)).toBe(0);
  });

  it('O148 shows the page for the code after Reload and sends no other message', async () => {
    const { path, code } = await requestCode();
    expect(path).toMatch(/\/code$/);
    for (let reload = 0; reload < 3; reload += 1) expectPage(await visitor.open(path), 200);
    expect(app().sms.count(user.phone)).toBe(1);
    await expectOnce(
      await redirectOf(await visitor.open(path), VERIFY, { code: '1' }),
      400,
      'Error',
    );
    const consent = await redirectOf(await visitor.open(path), VERIFY, { code });
    expect(consent).toMatch(/\/consent$/);
  });

  it('O148 leads Back and Reload on the pages of a signed-in user to the consent page', async () => {
    const { page, path, code } = await requestCode();
    const consent = await redirectOf(page, VERIFY, { code });
    for (const earlier of [path, path.replace(/code$/, 'phone')])
      expect((await visitor.open(earlier)).location).toBe(consent);
    expectPage(await visitor.open(consent), 200);
    expectPage(await visitor.open(consent), 200);
  });

  it('O127 O148 shows the error page of a throttled phone once, with 429, and then the phone again', async () => {
    const { page: codePage, path: codePath, code: valid } = await requestCode();
    app().clock.advance(61_000);
    const strangers = new Browser(app());
    for (const [message, times] of [3, 3, 3, 1].entries()) {
      const page = await submitPhone(strangers, authorizeLink(client), user.phone);
      const code = await app().sms.password(user.phone, { afterMessages: message + 1 });
      await sendWrongCodes(strangers, page, { code, times });
      // The first code must not expire.
      if (message < 3) app().clock.advance(61_000);
    }
    for (const [page, action, fields] of [
      [phonePage, SIGN_IN, { phone: user.phone }],
      [codePage, VERIFY, { code: valid }],
    ] as const) {
      const path = await redirectOf(page, action, fields);
      const shown = await expectOnce(path, 429, 'Too many attempts');
      expect(Number(shown.headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await visitor.open(path)).html).toContain(`value="${formatPhone(user.phone)}"`);
      expectPage(await visitor.open(codePath), 200);
    }
  });

  it('O33 O148 leads a second decision to the page that explains it', async () => {
    const { page, code } = await requestCode();
    const consent = await visitor.open(await redirectOf(page, VERIFY, { code }));
    const decision = { decision: 'approve', scope: 'profile.read' };
    expect(await redirectOf(consent, DECISION, decision)).toContain('code=');
    const path = await redirectOf(consent, DECISION, decision);
    for (let opened = 0; opened < 2; opened += 1) expectPage(await visitor.open(path), 409);
  });

  it('O148 leads an incomplete decision back to the consent page', async () => {
    const { page, code } = await requestCode();
    const consentPath = await redirectOf(page, VERIFY, { code });
    const consent = await visitor.open(consentPath);
    const path = await redirectOf(consent, DECISION, { decision: 'maybe' });
    const shown = await visitor.open(path);
    expectPage(shown, 400);
    expect(shown.html).toContain('This form is incomplete');
    expect((await visitor.open(path)).location).toBe(consentPath);
  });

  it('O146 O148 shows the result of disconnecting an app once', async () => {
    await app().accessToken(user, client);
    app().clock.advance(61_000);
    const page = await visitor.signInToAccount(user, `${APPS}/${client.clientId}`);
    const incomplete = await redirectOf(page, REVOKE, { client_id: '' });
    expect(incomplete).toBe(APPS);
    await expectOnce(incomplete, 400, 'This form is incomplete');
    await expectOnce(await redirectOf(page, REVOKE), 200, 'no longer has access');
    await expectOnce(await redirectOf(page, REVOKE), 200, 'Already disconnected.');
  });

  it('O30 responds to a forged form directly', async () => {
    const forged = await visitor.submit(phonePage, SIGN_IN, { token: 'x' }, { follow: false });
    expectPage(forged, 403);
  });

  it('O31 shows no page of an authorization request to another browser', async () => {
    const { path } = await requestCode();
    const thief = new Browser(app());
    for (const step of ['phone', 'code', 'consent']) {
      const page = path.replace(/code$/, step);
      expectPage(await thief.open(page), 403);
      await thief.open(authorizeLink(client));
      expectPage(await thief.open(page), 403);
      thief.cookies.clear();
    }
  });

  it('O35 shows no page of an expired authorization request', async () => {
    const { path } = await requestCode();
    app().clock.advance(15 * 60_000);
    expectPage(await visitor.open(path), 400);
    expectPage(await visitor.open('/oauth/authorize/txn_1/phone'), 400);
  });

  it('O42 ignores cookies of other programs on the host, and keeps them', async () => {
    const { path, code } = await requestCode();
    const other = 'session=partner; browser=partner; page=message%3Dwrong_code';
    const headers = { cookie: `${other}; ${visitor.cookie(path)}` };
    const page = await app().fetch(path, { headers });
    expect(page.status).toBe(200);
    expect(await page.text()).not.toContain('Error');
    const codePage = await visitor.open(path);
    const response = await visitor.submit(codePage, VERIFY, { code }, { follow: false });
    for (const cookie of response.headers.getSetCookie())
      expect(cookie).toMatch(new RegExp(`^devplatform-\\w+-${new URL(app().baseUrl).port}=`));
  });

  it.each([
    '{"error":"__proto__"}',
    '{"error":"toString"}',
    '{"message":"constructor"}',
    '{"message":"too_early","seconds":-1}',
    '{"message":"disconnected","count":1e999,"clientId":"x"}',
    '{"error":"locked_phone","seconds":"NaN"}',
    '{"phone":{"length":1},"country":["US"]}',
    '{"__proto__":{"phone":"+14155550100"}}',
    'null',
    '"text"',
    '[1]',
    '%',
    'phone=%2B14155550100',
  ])('shows a page in spite of the state %s in its cookie', async (state) => {
    const { path } = await requestCode();
    const { baseUrl } = app();
    const browser = `${cookieName(baseUrl, 'browser')}=${visitor.cookies.get('browser')}`;
    const statePath = JSON.stringify(path.replace(/\/code$/, ''));
    for (const value of [state, `{${statePath}:${state}}`]) {
      const cookie = `${browser}; ${cookieName(baseUrl, 'page')}=${encodeURIComponent(value)}`;
      const response = await app().fetch(path, { headers: { cookie } });
      expect(response.status).toBeLessThan(500);
    }
  });

  const isOpen = ({ html }: Page): boolean => html.includes('autocomplete="one-time-code"');

  it.each(['a member', 'a stranger'])(
    'O167 counts the guesses down for %s, and then offers a new one-time password',
    async (who) => {
      let page = await submitPhone(
        visitor,
        authorizeLink(client),
        who === 'a member' ? user.phone : UNKNOWN_PHONE,
      );
      expect(page.html).not.toContain('Attempts left');
      for (const left of [2, 1]) {
        page = await visitor.submit(page, VERIFY, { code: '000000' });
        expectPage(page, 400);
        expect(page.html.match(/Attempts left: \d/g)).toEqual([`Attempts left: ${left}`]);
        const reloaded = await visitor.open(pageUrl(page));
        expectPage(reloaded, 200);
        expect(reloaded.html.match(/Attempts left: \d/g)).toEqual([`Attempts left: ${left}`]);
        expect(isOpen(page)).toBe(true);
      }
      page = await visitor.submit(page, VERIFY, { code: '000000' });
      expectPage(page, 400);
      expect(isOpen(page)).toBe(false);
      expect(page.html).toContain('it was the last attempt');
      app().clock.advance(61 * SECOND);
      page = await visitor.submit(page, SIGN_IN, { again: '1' });
      expectPage(page, 200);
      expect(page.html).not.toContain('Attempts left');
      expect(isOpen(page)).toBe(true);
    },
  );

  it('O167 says when a new one-time password can be requested, until it can be', async () => {
    const page = await submitPhone(visitor, authorizeLink(client), user.phone);
    const url = pageUrl(page);
    expect(waitOf(page)).toBeGreaterThan(50);
    expect(waitOf(page)).toBeLessThanOrEqual(60);
    app().clock.advance(30 * SECOND);
    expect(waitOf(await visitor.open(url))).toBeLessThan(40);
    app().clock.advance(35 * SECOND);
    const later = await visitor.open(url);
    expect(waitOf(later)).toBeUndefined();
    expect(isOpen(later)).toBe(true);
    app().clock.advance(300 * SECOND);
    expect(isOpen(await visitor.open(url))).toBe(false);
  });

  it('O49 O167 rejects a request within sixty seconds with 429, and keeps the last one-time password', async () => {
    const page = await submitPhone(visitor, authorizeLink(client), user.phone);
    app().clock.advance(59 * SECOND);
    const early = await visitor.submit(page, SIGN_IN, { again: '1' });
    expectPage(early, 429);
    expect(waitOf(early)).toBe(1);
    expect(Number(early.headers.get('retry-after'))).toBe(waitOf(early));
    expect(early.html).toContain('It is too early for a new code.');
    expect(early.html.split('You can request a new code in')).toHaveLength(2);
    expect(early.html).toContain('The last code we sent still works.');
    const code = await app().sms.password(user.phone);
    const consent = await visitor.submit(early, VERIFY, { code });
    expect(consent.html).toContain(DECISION);
    expect(app().sms.count(user.phone)).toBe(1);
  });

  it('O167 continues a sign-in that is started again too early, in this and in another browser', async () => {
    await submitPhone(visitor, authorizeLink(client), user.phone);
    const again = await submitPhone(visitor, authorizeLink(client), user.phone);
    expectPage(again, 200);
    expect(isOpen(again)).toBe(true);
    const elsewhere = await submitPhone(new Browser(app()), authorizeLink(client), user.phone);
    expectPage(elsewhere, 429);
    expect(isOpen(elsewhere)).toBe(false);
    expect(elsewhere.title).not.toContain('Error');
    expect(waitOf(elsewhere)).toBeGreaterThan(50);
  });
});

/** The URL of the page that a form of the sign-in redirected to. */
function pageUrl(page: Page): string {
  return `/oauth/authorize/${hiddenField(page, 'transaction')}/code`;
}
