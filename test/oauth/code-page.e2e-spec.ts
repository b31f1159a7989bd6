import { SECOND } from '../../src/platform/clock.js';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { Browser, type Page } from '../support/browser.js';
import { onOneEngine } from '../support/database.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { expectPage } from '../support/responses.js';
import { DEFAULT_LIMITS, type TestClient, useTestApp } from '../support/test-app.js';

const SIGN_IN = '/oauth/authorize/sign-in';
const VERIFY = '/oauth/authorize/verify';
const UNKNOWN_PHONE = '+14155550999';
const DAY_SECONDS = 86_400;

/** The seconds until the user may request a new one-time password, as the page says. Undefined if it says nothing. */
function waitOf({ html }: Page): number | undefined {
  const [, seconds] = /data-seconds="(\d+)"/.exec(html) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
}

onOneEngine('Page of the one-time password', (database) => {
  const app = useTestApp(database, { ...DEFAULT_LIMITS });
  let client: TestClient;
  let user: UserWithPhone;

  beforeEach(async () => {
    app().clock.advance(DAY_SECONDS * SECOND);
    client = await app().addClient();
    user = await app().addUser();
  });

  async function requestCode(visitor: Browser, phone: string): Promise<Page> {
    return visitor.submit(await visitor.open(authorizeLink(client)), SIGN_IN, { phone });
  }

  const isOpen = ({ html }: Page): boolean => html.includes('autocomplete="one-time-code"');

  it.each(['a member', 'a stranger'])(
    'O167 counts the guesses down for %s, and then offers a new one-time password',
    async (who) => {
      const visitor = new Browser(app());
      let page = await requestCode(visitor, who === 'a member' ? user.phone : UNKNOWN_PHONE);
      expect(page.html).not.toContain('Attempts left');
      for (const left of [4, 3, 2, 1]) {
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
    const visitor = new Browser(app());
    const page = await requestCode(visitor, user.phone);
    const url = pageUrl(page);
    expect(waitOf(page)).toBeGreaterThan(50);
    app().clock.advance(30 * SECOND);
    expect(waitOf(await visitor.open(url))).toBeLessThan(40);
    app().clock.advance(35 * SECOND);
    const later = await visitor.open(url);
    expect(waitOf(later)).toBeUndefined();
    expect(isOpen(later)).toBe(true);
    app().clock.advance(300 * SECOND);
    expect(isOpen(await visitor.open(url))).toBe(false);
  });

  it('O167 rejects a request that is too early with 429, and keeps the last one-time password', async () => {
    const visitor = new Browser(app());
    const page = await requestCode(visitor, user.phone);
    const early = await visitor.submit(page, SIGN_IN, { again: '1' });
    expectPage(early, 429);
    expect(Number(early.headers.get('retry-after'))).toBe(waitOf(early));
    expect(early.html).toContain('The last code we sent still works.');
    const code = await app().sms.password(user.phone);
    const consent = await visitor.submit(early, VERIFY, { code });
    expect(consent.html).toContain('/oauth/authorize/decision');
  });

  it('O167 continues a sign-in that is started again too early, in this and in another browser', async () => {
    const visitor = new Browser(app());
    await requestCode(visitor, user.phone);
    const again = await requestCode(visitor, user.phone);
    expectPage(again, 200);
    expect(isOpen(again)).toBe(true);
    const elsewhere = await requestCode(new Browser(app()), user.phone);
    expectPage(elsewhere, 429);
    expect(isOpen(elsewhere)).toBe(false);
    expect(elsewhere.title).not.toContain('Error');
    expect(waitOf(elsewhere)).toBeGreaterThan(50);
  });

  it('O53 shows the number in groups of digits', async () => {
    const page = await requestCode(new Browser(app()), '+14155552671');
    expect(page.html).toContain('+1\u00a0415\u00a0555\u00a02671');
  });
});

/** The URL of the page that a form of the sign-in redirected to. */
function pageUrl({ html }: Page): string {
  const [, id = ''] = /name="transaction" value="([^"]*)"/.exec(html) ?? [];
  return `/oauth/authorize/${id}/code`;
}
