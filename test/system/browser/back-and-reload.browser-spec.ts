import type { Page } from 'playwright-core';
import { MINUTE, SECOND } from '../../../src/platform/clock.js';
import type { UserWithPhone } from '../../../src/modules/users/users.service.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { inChromium, pressHistory, waitForAllow, waitUntilLoaded } from '../../support/chromium.js';
import { countGrantsAndCodes } from '../../support/responses.js';
import type { TestClient } from '../../support/test-app.js';
import { IS_QUICK } from '../../suite.js';

const WRONG_CODE = '000000';

inChromium('Back, Forward and Reload', {}, (chrome) => {
  const { app } = chrome;
  let client: TestClient;
  let user: UserWithPhone;
  let page: Page;
  /** The requests that send a form. */
  let posts: string[];

  beforeEach(async () => {
    client = await app().addClient({ redirectUris: [app().pageOnOtherHost('/livez')] });
    user = await app().addUser({ name: 'Ana Lee' });
    page = await chrome.newPage();
    posts = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') posts.push(new URL(request.url()).pathname);
    });
  });

  const heading = (): Promise<string | null> =>
    page.getByRole('heading', { level: 1 }).textContent();

  /** Asserts a page of ours that says how to continue. */
  async function expectUsable(): Promise<void> {
    expect(await heading()).not.toBe('');
    expect(await page.locator('main form, main a').count()).toBeGreaterThan(0);
  }

  /** Presses Reload twice, Back and Forward on a page, which must be the same again. */
  async function expectSteady(title: string): Promise<void> {
    await waitUntilLoaded(page);
    expect(await heading()).toBe(title);
    const sent = posts.length;
    for (const press of ['reload', 'reload', 'goBack', 'goForward', 'reload'] as const) {
      if (press === 'reload') await page.reload();
      else await pressHistory(page, press);
      await expectUsable();
    }
    expect(await heading()).toBe(title);
    expect(posts).toHaveLength(sent);
  }

  const click = (name: string): Promise<void> =>
    page.getByRole('button', { name, exact: true }).click();

  async function openAuthorization(): Promise<void> {
    await chrome.open(page, '/');
    await chrome.open(page, authorizeLink(client));
  }

  /** Marks the document of the page. The mark is lost when the page loads again. */
  const mark = (): Promise<unknown> => page.evaluate('window.isMarked = true');
  const isMarked = (): Promise<boolean> => page.evaluate<boolean>('window.isMarked === true');

  it('run in a browser with a back/forward cache', async () => {
    await chrome.open(page, '/');
    await mark();
    await chrome.open(page, '/docs/guide');
    await pressHistory(page, 'goBack');
    expect(await isMarked()).toBe(true);
  });

  it.each(['Allow', 'Cancel'])(
    'O148 Back after %s shows that the request has its response, not the consent page',
    async (button) => {
      await openAuthorization();
      await chrome.signIn(page, user);
      await waitForAllow(page);
      await mark();
      await click(button);
      await page.waitForURL(/\/livez\?/);
      await pressHistory(page, 'goBack');
      await page
        .getByRole('heading', { name: 'You have already responded to this request' })
        .waitFor();
      expect(await isMarked()).toBe(false);
      expect(await page.getByRole('button', { name: 'Allow' }).count()).toBe(0);
    },
  );

  it.each(['Sign out', 'Sign out everywhere'])(
    'O148 Back after %s shows neither the name nor the apps of the user',
    async (button) => {
      await app().accessToken(user, client);
      await chrome.open(page, '/account/apps');
      await chrome.signIn(page, user);
      await page.waitForURL(/\/account\/apps$/);
      await page.getByRole('link', { name: 'Disconnect' }).click();
      await page.waitForURL(/svc_app_/);
      await pressHistory(page, 'goBack');
      await page.getByText('Ana Lee').waitFor();
      if (button !== 'Sign out') await page.locator('summary', { hasText: button }).click();
      await click(button);
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      for (let steps = 0; steps < 3; steps += 1) {
        await pressHistory(page, 'goBack');
        const text = await page.locator('body').innerText();
        expect(text).not.toMatch(/Ana Lee|Garden Share/);
      }
    },
  );

  it('O148 show a usable page at every step of an authorization, and send nothing twice', async () => {
    await openAuthorization();
    await expectSteady('Sign in');
    await page.getByLabel('Your phone number', { exact: true }).fill('nobody');
    await click('Send me a code');
    await page.waitForSelector('#phone-error');
    await expectSteady('Sign in');
    await page.getByLabel('Your phone number', { exact: true }).fill(user.phone);
    await click('Send me a code');
    await page.getByLabel('6-digit code').waitFor();
    await expectSteady('Enter your code');
    // The script of the page disables the button until the server accepts the request.
    await page.evaluate("document.querySelector('[name=again]').disabled = false");
    await click('Request new code');
    await page.getByRole('status').waitFor();
    await expectSteady('Enter your code');
    for (let guesses = 1; guesses <= 3; guesses += 1) {
      await page.getByLabel('6-digit code').fill(WRONG_CODE);
      await click('Continue');
      await page.waitForURL(/\/code$/);
      if (guesses === 1) await expectSteady('Enter your code');
    }
    await page.getByRole('heading', { name: 'Request a new code' }).waitFor();
    await expectSteady('Request a new code');
    app().clock.advance(MINUTE + SECOND);
    await page.reload();
    await click('Request new code');
    await page.getByRole('status').waitFor();
    await expectSteady('Enter your code');
    await page
      .getByLabel('6-digit code')
      .fill(await app().sms.password(user.phone, { afterMessages: 1 }));
    await click('Continue');
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    await expectSteady('Garden Share wants to access your account');
    await waitForAllow(page);
    await click('Allow');
    await page.waitForURL(/\/livez\?code=/);
    await pressHistory(page, 'goBack');
    await page.reload();
    await expectSteady('You have already responded to this request');
    expect(await page.getByRole('link', { name: 'Return to' }).count()).toBe(0);
    expect(app().sms.count(user.phone)).toBe(2);
    expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 1, codes: 1 });
  }, 60_000);

  it.skipIf(IS_QUICK)(
    'O148 show a usable page at every step of the account',
    async () => {
      await app().accessToken(user, client);
      await chrome.open(page, '/');
      await chrome.open(page, '/account/apps');
      await expectSteady('Sign in');
      await chrome.signIn(page, user);
      await page.waitForURL(/\/account\/apps$/);
      await expectSteady('Connected apps');
      await page.getByRole('link', { name: 'Disconnect' }).click();
      await page.waitForURL(/svc_app_/);
      await expectSteady('Garden Share');
      await click('Disconnect');
      await page.getByRole('status').waitFor();
      await expectSteady('Connected apps');
      await pressHistory(page, 'goBack');
      await expectSteady('This app is not connected');
      await page.getByRole('link', { name: 'Connected apps' }).click();
      await page.getByText('No app has access to your account.').waitFor();
      for (const name of ['Corner Store', 'Tool Shed'])
        await app().accessToken(user, await app().addClient({ name }));
      await page.reload();
      await page.getByText('Disconnect all apps', { exact: true }).click();
      await click('Disconnect all 2 apps');
      await page.getByRole('status').waitFor();
      await expectSteady('Connected apps');
      await click('Sign out');
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await expectSteady('Sign in');
      app().clock.advance(MINUTE + SECOND);
      await chrome.signIn(page, user);
      await page.waitForURL(/\/account\/apps$/);
      await page.locator('summary', { hasText: 'Sign out everywhere' }).click();
      await click('Sign out everywhere');
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await expectSteady('Sign in');
    },
    60_000,
  );
});
