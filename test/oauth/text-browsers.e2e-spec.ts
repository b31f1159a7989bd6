import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { Browser, cookieName, hiddenField, type Page } from '../support/browser.js';
import { onOneEngine } from '../support/database.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { expectPage } from '../support/responses.js';
import { SIGN_IN, VERIFY } from '../support/sign-in.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const WRONG_CODE = { code: '000000' };

/** w3m, links and NetSurf have other caches and rules of cookies than current browsers. */
onOneEngine('Pages in browsers that follow older standards', (database) => {
  const app = useTestApp(database);
  let client: TestClient;
  let user: UserWithPhone;
  let visitor: Browser;

  beforeEach(async () => {
    client = await app().addClient();
    user = await app().addUser();
    visitor = new Browser(app());
  });

  const submit = (page: Page, action: string, fields: Record<string, string>): Promise<Page> =>
    visitor.submit(page, action, fields, { follow: false });

  it('O148 set no cookie whose path is not a prefix of the path that sets it (RFC 2109 §4.3.2)', async () => {
    const phonePage = await visitor.open(authorizeLink(client));
    const sent = await submit(phonePage, SIGN_IN, { phone: user.phone });
    const codePage = await visitor.follow(sent);
    const wrong = await submit(codePage, VERIFY, WRONG_CODE);
    const shown = await visitor.follow(wrong);
    const code = await app().sms.password(user.phone);
    const lines = [
      ...[phonePage, sent, codePage, wrong, shown],
      await submit(shown, VERIFY, { code }),
    ].flatMap(({ headers }) => headers.getSetCookie());
    expect(lines.length).toBeGreaterThan(4);
    for (const line of lines) expect(line).toMatch(/; Path=\/;/);
  });

  it('O148 redirect to an address that the browser does not have, for each wrong code and number', async () => {
    let page = await visitor.open(authorizeLink(client));
    const addresses = [authorizeLink(client)];
    const follow = async (redirect: Page): Promise<void> => {
      addresses.push(redirect.location ?? '');
      page = await visitor.follow(redirect);
    };
    for (const phone of ['12', '34', user.phone])
      await follow(await submit(page, SIGN_IN, { phone }));
    // The third wrong code would be the last.
    for (let guess = 0; guess < 2; guess += 1) {
      await follow(await submit(page, VERIFY, WRONG_CODE));
      expectPage(page, 400);
      expect(page.html).toContain('That code is wrong.');
    }
    expect(new Set(addresses).size).toBe(addresses.length);
    for (const address of addresses.slice(1))
      expect(address).toMatch(/^\/oauth\/authorize\/txn_\w{26}\/(phone|code)(\?n=[\w-]{8})?$/);
  });

  it('O148 lead to an address that the browser does not have after each form of the account', async () => {
    const phonePage = await visitor.open('/account/apps');
    const codePage = await visitor.submit(phonePage, '/account/sign-in', { phone: user.phone });
    const post = async (page: Page, action: string, fields: Record<string, string> = {}) => {
      const names = ['transaction', 'token', 'phone'];
      const hidden = names.map((name) => [name, hiddenField(page, name)]);
      const body = new URLSearchParams({ ...Object.fromEntries(hidden), ...fields });
      const headers = { cookie: visitor.cookie() };
      // Text browsers send no `Origin`.
      const response = await app().fetch(action, { method: 'POST', headers, body });
      for (const line of response.headers.getSetCookie()) {
        const session = /session-\d+=([\w-]+)/.exec(line)?.[1];
        if (session !== undefined) visitor.cookies.set('session', session);
      }
      return response.headers.get('location') ?? '';
    };
    const code = await app().sms.password(user.phone);
    const signedIn = await post(codePage, '/account/verify', { code });
    expect(signedIn).toMatch(/^\/account\/apps\?n=[\w-]{8}$/);
    const apps = await visitor.open(signedIn);
    expect(apps.html).toContain(user.name);
    const disconnected = await post(apps, '/account/apps/revoke', { all: '1' });
    expect(disconnected).toMatch(/^\/account\/apps\?n=[\w-]{8}$/);
    expect(disconnected).not.toBe(signedIn);
    const signedOut = await post(apps, '/account/sign-out');
    expect(signedOut).toMatch(/^\/account\/apps\?n=[\w-]{8}$/);
    expect(signedOut).not.toBe(signedIn);
  });

  it('O148 keep the numbers of several tabs apart', async () => {
    const tabs = await Promise.all([1, 2].map(() => app().addUser()));
    const pages: Page[] = [];
    for (const { phone } of tabs) {
      const phonePage = await visitor.open(authorizeLink(client));
      const { location } = await submit(phonePage, SIGN_IN, { phone });
      pages.push(await visitor.open(location ?? ''));
      for (const [index, { html }] of pages.entries())
        expect(html).toContain(`name="phone" value="${tabs[index]?.phone}"`);
    }
    const [first] = pages as [Page];
    const wrong = await submit(first, VERIFY, WRONG_CODE);
    expect((await visitor.open(wrong.location ?? '')).html).toContain('That code is wrong.');
  });

  it('O148 keep their cookie small, however many sign-ins the user starts', async () => {
    const phone = '\u{1f4de}'.repeat(64);
    for (let tab = 0; tab < 12; tab += 1) {
      const phonePage = await visitor.open(authorizeLink(client));
      const { headers } = await submit(phonePage, SIGN_IN, { phone });
      const [line = ''] = headers.getSetCookie();
      expect(line.length).toBeLessThan(4096);
    }
  });

  it.each(['page', 'session'])(
    'O148 say so when the browser does not keep the cookie "%s", instead of asking for the number for ever',
    async (name) => {
      const fullName = cookieName(app().baseUrl, name);
      const forget = (path: string): Record<string, string> => {
        const cookies = visitor.cookie(path).split('; ');
        return { cookie: cookies.filter((one) => !one.startsWith(`${fullName}=`)).join('; ') };
      };
      let page = await visitor.open(authorizeLink(client));
      let redirect = await submit(page, SIGN_IN, { phone: user.phone });
      if (name === 'session') {
        page = await visitor.follow(redirect);
        redirect = await submit(page, VERIFY, { code: await app().sms.password(user.phone) });
      }
      let path = redirect.location ?? '';
      let response = await app().fetch(path, { headers: forget(path) });
      expect(response.status).toBe(303);
      path = response.headers.get('location') ?? '';
      response = await app().fetch(path, { headers: forget(path) });
      expect(response.status).toBe(400);
      const html = await response.text();
      expect(html).toContain('your browser does not keep the cookies of this site');
      expect(html).toContain('name="phone"');
    },
  );
});
