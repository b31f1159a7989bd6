import { setTimeout as sleep } from 'node:timers/promises';
import type { UserWithPhone } from '../../../src/modules/users/users.service.js';
import { usePartnerSite } from '../../support/chromium.js';
import { sqliteFile } from '../../support/database.js';
import { authorizeLink, exchange } from '../../support/oauth-flow.js';
import { countGrantsAndCodes, json, type TokenBody } from '../../support/responses.js';
import { type TestClient, useTestApp } from '../../support/test-app.js';
import { findEngines, repeat, type Tab } from './engines.js';

const PHONE_FORM = 'form[action$="/sign-in"]';
const CODE_FORM = 'form[action$="/verify"]';
const ALLOW = '[value=approve]';
const WRONG_CODE = '000000';

/** More than Allow ignores clicks. */
const ALLOW_DELAY_MS = 1000;

for (const { name, packages, isInstalled, start } of await findEngines()) {
  const place = isInstalled ? name : `${name} (skipped: install ${packages})`;
  describe.skipIf(!isInstalled)(`Pages in ${place}`, { timeout: 120_000 }, () => {
    const app = useTestApp(sqliteFile());
    const site = usePartnerSite((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(
        '<!doctype html><title>App</title><link rel="icon" href="data:,"><h1>Back at the app</h1>',
      );
    });
    let tab: Tab;
    let client: TestClient;
    let user: UserWithPhone;
    /** The paths of submitted forms. */
    let posts: string[];

    beforeAll(() => {
      app()
        .nest.getHttpServer()
        .on('request', ({ method, url }) => {
          if (method === 'POST') posts.push(String(url));
        });
    });
    beforeEach(async () => {
      posts = [];
      client = await app().addClient({ redirectUris: [`${site()}/callback`] });
      user = await app().addUser({ name: 'Ana Lee' });
      tab = await start();
    });
    afterEach(() => tab.close());

    /** Waits until the page is complete. Returns when it was loaded, which the back/forward cache keeps. */
    const loadTime = (): Promise<number> =>
      repeat(async () => {
        const [state, time] = await tab.run<[string, number]>(
          '[document.readyState, performance.timeOrigin]',
        );
        if (state !== 'complete') throw new Error('The page does not load.');
        return time;
      });

    /** Waits for the page to which an action leads. */
    async function leave(action: () => Promise<unknown>): Promise<void> {
      const before = await loadTime();
      await action();
      await repeat(async () => {
        if ((await loadTime()) === before) throw new Error('The page stays.');
      });
      // The script of a page from the back/forward cache loads it again.
      await sleep(200);
      await loadTime();
    }

    const open = (path: string): Promise<void> =>
      leave(() => tab.run(`void location.assign('${new URL(path, app().baseUrl).href}')`));
    const press = (button: 'back' | 'forward' | 'reload'): Promise<void> =>
      leave(() =>
        tab.run(button === 'reload' ? 'void location.reload()' : `void history.${button}()`),
      );
    const click = (selector: string): Promise<void> => leave(() => tab.click(selector));
    const text = (): Promise<string> => tab.run('document.body.innerText');
    const heading = (): Promise<string> => tab.run("document.querySelector('h1').textContent");

    async function sendCode(phone: string): Promise<void> {
      await tab.type('[name=phone]', phone);
      await click(`${PHONE_FORM} button`);
    }

    async function signIn(): Promise<void> {
      const afterMessages = app().sms.count(user.phone);
      await sendCode(user.phone);
      await tab.type('[name=code]', await app().sms.password(user.phone, { afterMessages }));
      await click(`${CODE_FORM} button`);
    }

    /** Presses Reload, Back, Forward and Reload on a page, which must be the same again. */
    async function expectSteady(title: string): Promise<void> {
      expect(await heading()).toBe(title);
      const sent = [...posts];
      for (const button of ['reload', 'back', 'forward', 'reload'] as const) {
        await press(button);
        expect(await tab.run("document.querySelectorAll('main form, main a').length")).not.toBe(0);
      }
      expect(await heading()).toBe(title);
      expect(posts).toEqual(sent);
    }

    it('run in a browser with a back/forward cache', async () => {
      // Not a page of ours: Firefox caches no page with `no-store`.
      await open(`${site()}/first`);
      const time = await loadTime();
      await open(`${site()}/second`);
      await press('back');
      expect(await loadTime()).toBe(time);
    });

    it('O147 O148 lead through the whole sign-in, with Back and Reload at every step', async () => {
      await open('/');
      await open(authorizeLink(client));
      await expectSteady('Sign in');
      await sendCode('nobody');
      await expectSteady('Sign in');
      await tab.run("document.querySelector('[name=phone]').value = ''");
      await sendCode(user.phone);
      await expectSteady('Enter your code');
      await tab.type('[name=code]', WRONG_CODE);
      await click(`${CODE_FORM} button`);
      expect(await text()).toContain('That code is wrong.');
      await expectSteady('Enter your code');
      await tab.type('[name=code]', await app().sms.password(user.phone));
      await click(`${CODE_FORM} button`);
      await expectSteady('Garden Share wants to access your account');
      await tab.click('[value="posts.write"]');
      await sleep(ALLOW_DELAY_MS);
      await click(ALLOW);
      expect(await heading()).toBe('Back at the app');
      const url = new URL(await tab.run<string>('location.href'));
      expect(url.searchParams.get('iss')).toBe(app().baseUrl);
      const response = await exchange(app(), client, url.searchParams.get('code') ?? '');
      const { scope } = await json<TokenBody>(response);
      expect(scope).toBe('profile.read posts.read analytics.read');
      await press('back');
      await expectSteady('You have already responded to this request');

      await open('/account/apps');
      await expectSteady('Connected apps');
      await click('.rows a');
      await expectSteady('Garden Share');
      await click('.danger');
      expect(await text()).toContain('Garden Share no longer has access.');
      await expectSteady('Connected apps');
      await click('form[action="/account/sign-out"] button');
      await expectSteady('Sign in');
      expect(app().sms.count(user.phone)).toBe(1);
      expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 1, codes: 1 });
    });

    it('O26 ignore the Enter key on a permission, which the space bar toggles', async () => {
      await open(authorizeLink(client));
      await signIn();
      const scopes =
        '[...document.querySelectorAll("[name=scope]:checked")].map(({ value }) => value)';
      expect(await tab.run(scopes)).toEqual(client.scopes);
      await sleep(ALLOW_DELAY_MS);
      const time = await loadTime();
      for (const scope of client.scopes) await tab.type(`[value="${scope}"]`, '\n');
      await sleep(200);
      expect(await loadTime()).toBe(time);
      expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 0, codes: 0 });
      await tab.type('[value="posts.write"]', ' ');
      const remaining = client.scopes.filter((scope) => scope !== 'posts.write');
      expect(await tab.run(scopes)).toEqual(remaining);
      await leave(() => tab.type(ALLOW, '\n'));
      expect(await heading()).toBe('Back at the app');
    });

    it('show the initial if the photo of the user does not load', async () => {
      // The site of the app answers with a page instead of a picture.
      user = await app().addUser({ name: 'Ana Lee', photoUrl: `${site()}/ana.png` });
      await open(authorizeLink(client));
      await signIn();
      await repeat(async () => {
        const count = await tab.run("document.querySelectorAll('.avatar img').length");
        if (count !== 0) throw new Error('The photo is still there.');
      });
      expect(await tab.run("document.querySelector('.avatar').innerText.trim()")).toBe('A');
    });

    it('O148 show nothing private with Back after a decision and a sign-out', async () => {
      await open(authorizeLink(client));
      await signIn();
      await sleep(ALLOW_DELAY_MS);
      await click(ALLOW);
      await press('back');
      expect(await heading()).toBe('You have already responded to this request');
      expect(await tab.run(`document.querySelector('${ALLOW}')`)).toBe(null);
      await open('/account/apps');
      expect(await text()).toContain('Ana Lee');
      await click('.rows a');
      await press('back');
      expect(await text()).toContain('Ana Lee');
      await click('form[action="/account/sign-out"] button');
      for (let steps = 0; steps < 3; steps += 1) {
        await press('back');
        expect(await text()).not.toMatch(/Ana Lee|Garden Share wants|Disconnect/);
      }
    });
  });
}
