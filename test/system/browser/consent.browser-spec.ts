import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { MINUTE } from '../../../src/platform/clock.js';
import type { UserWithPhone } from '../../../src/modules/users/users.service.js';
import { CATALOGUES } from '../../../src/pages/translations/translations.js';
import { authorizeLink, exchange } from '../../support/oauth-flow.js';
import {
  expectAccessible,
  inChromium,
  SCREENSHOTS,
  tabTo,
  contextOptions,
  PREFERENCES,
  usePartnerSite,
  waitForAllow,
} from '../../support/chromium.js';
import { PNG } from '../../support/logos.js';
import { json, countGrantsAndCodes, type TokenBody } from '../../support/responses.js';
import type { TestClient } from '../../support/test-app.js';

const SIGN_IN_BUTTON = 'form[action="/oauth/authorize/sign-in"] button';
const VERIFY_BUTTON = 'form[action="/oauth/authorize/verify"] button';

inChromium('Consent page', { env: { NETWORK_COLOR: '#7b1fa2' } }, (chrome) => {
  const { app } = chrome;
  const site = usePartnerSite((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end('<!doctype html><title>Back at the app</title><link rel="icon" href="data:,">');
  });
  const callback = (): string => `${site()}/callback`;
  let user: UserWithPhone;

  beforeEach(async () => {
    user = await app().addUser({ name: 'Ana Lee' });
  });

  function addClient(kind: TestClient['kind']): Promise<TestClient> {
    return app().addClient({ kind, redirectUris: [callback()] });
  }

  function newPage(options: BrowserContextOptions = {}): Promise<Page> {
    return chrome.newPage({ javaScriptEnabled: false, ...options });
  }

  function open(
    page: Page,
    client: TestClient,
    parameters: Record<string, string> = {},
  ): Promise<void> {
    return chrome.open(page, authorizeLink(client, parameters));
  }

  /** Waits for the redirect to the app and returns its parameters. */
  async function redirectOf(page: Page): Promise<URLSearchParams> {
    await page.waitForURL((url) => url.href.startsWith(callback()));
    expect(await page.title()).toBe('Back at the app');
    expect(chrome.consoleErrors).toEqual([]);
    return new URL(page.url()).searchParams;
  }

  async function tokensFrom(client: TestClient, parameters: URLSearchParams): Promise<TokenBody> {
    expect(parameters.get('state')).toBe('af0ifjsldkj');
    expect(parameters.get('iss')).toBe(app().baseUrl);
    const response = await exchange(app(), client, parameters.get('code') ?? '');
    expect(response.status).toBe(200);
    return json<TokenBody>(response);
  }

  it.each(['confidential', 'public'] as const)(
    'O147 C143 redirects to a %s app with a code after Allow, without JavaScript',
    async (kind) => {
      const client = await addClient(kind);
      const page = await newPage();
      await open(page, client);
      await chrome.signIn(page, user);
      await page.getByRole('button', { name: 'Allow' }).click();
      const { scope } = await tokensFrom(client, await redirectOf(page));
      expect(scope).toBe(client.scopes.join(' '));
    },
  );

  it.each([
    [375, 667],
    [1280, 800],
  ])(
    'O26 shows both buttons without scrolling at %i × %i, with four scopes',
    async (width, height) => {
      const page = await newPage({ viewport: { width, height } });
      const client = await addClient('confidential');
      await open(page, client);
      await chrome.signIn(page, user);
      const expectVisible = async (...names: string[]): Promise<void> => {
        for (const name of names) {
          const box = await page.getByRole('button', { name }).boundingBox();
          expect(box && box.y + box.height).toBeLessThanOrEqual(height);
        }
      };
      await expectVisible('Allow', 'Cancel');
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.waitForURL((url) => url.href.startsWith(callback()));
      await open(page, client);
      await expectVisible('Continue', 'Cancel');
    },
  );

  it.each([true, false])(
    'O26 ignores the Enter key on a permission, with and without JavaScript (%s)',
    async (javaScriptEnabled) => {
      const client = await addClient('confidential');
      const page = await newPage({ javaScriptEnabled });
      await open(page, client);
      await chrome.signIn(page, user);
      await waitForAllow(page);
      const boxes = page.getByRole('checkbox');
      expect(await boxes.count()).toBe(client.scopes.length);
      for (const box of await boxes.all()) await box.press('Enter');
      expect(new URL(page.url()).origin).toBe(app().baseUrl);
      expect(await boxes.count()).toBe(client.scopes.length);
      expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 0, codes: 0 });
      // The space bar toggles a permission, and Enter presses a button that has the focus.
      await boxes.first().press('Space');
      expect(await boxes.first().isChecked()).toBe(false);
      await page.getByRole('button', { name: 'Allow' }).press('Enter');
      await page.waitForURL(/\?code=/);
      expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 1, codes: 1 });
    },
  );

  it('C143 redirects with access_denied after Cancel, with the keyboard only', async () => {
    const page = await newPage({ javaScriptEnabled: true });
    await open(page, await addClient('confidential'));
    await tabTo(page, '[name=phone]');
    await page.keyboard.type(user.phone);
    await tabTo(page, SIGN_IN_BUTTON);
    await page.keyboard.press('Enter');
    await page.waitForSelector('[name=code]');
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('code');
    await page.keyboard.type(await app().sms.password(user.phone));
    await tabTo(page, VERIFY_BUTTON);
    await page.keyboard.press('Space');
    await page.waitForSelector('[value=approve]');
    await tabTo(page, '[value="posts.write"]');
    await page.keyboard.press('Space');
    expect(await page.isChecked('[value="posts.write"]')).toBe(false);
    await tabTo(page, '[value=deny]');
    await page.screenshot({ path: join(SCREENSHOTS, 'consent-keyboard.png'), fullPage: true });
    await page.keyboard.press('Enter');
    const parameters = await redirectOf(page);
    expect(parameters.get('error')).toBe('access_denied');
    expect(parameters.has('code')).toBe(false);
  });

  // A busy machine may click too late. Without the delay, every attempt fails.
  describe('delay of Allow', { retry: 2 }, () => {
    /** Opens the consent page of a new app, so that the whole page is visible. */
    async function openConsent(options: BrowserContextOptions = {}): Promise<Page> {
      const viewport = { width: 1280, height: 1600 };
      const page = await newPage({ viewport, javaScriptEnabled: true, ...options });
      await open(page, await addClient('confidential'));
      await chrome.signIn(page, user);
      await page.waitForSelector('[value=approve]');
      return page;
    }

    /** Clicks at the place of a button, without waiting until it accepts clicks. */
    async function clickAt(page: Page, button: string): Promise<void> {
      const box = await page.locator(button).boundingBox();
      if (!box) throw new Error(`${button} is not visible.`);
      await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    }

    async function expectUndecided(page: Page): Promise<void> {
      await page.waitForTimeout(150);
      expect(new URL(page.url()).pathname).toMatch(/\/consent$/);
    }

    it.each([
      ['with scripts', {}],
      ['without scripts', { javaScriptEnabled: false }],
      ['with reduced motion', { reducedMotion: 'reduce' }],
      [
        'with reduced motion, without scripts',
        { reducedMotion: 'reduce', javaScriptEnabled: false },
      ],
    ] satisfies [string, BrowserContextOptions][])(
      'O166 ignores a click on Allow 0.3 s after the page appeared, and accepts one after 1.2 s, %s',
      async (_title, options) => {
        const page = await openConsent(options);
        await page.waitForTimeout(300);
        await clickAt(page, '[value=approve]');
        await expectUndecided(page);
        await page.waitForTimeout(750);
        await clickAt(page, '[value=approve]');
        expect((await redirectOf(page)).has('code')).toBe(true);
      },
    );

    it('O166 ignores a click on Allow after the page regained focus', async () => {
      const page = await openConsent();
      const devTools = await page.context().newCDPSession(page);
      await devTools.send('Emulation.setFocusEmulationEnabled', { enabled: false });
      await page.waitForTimeout(1000);
      const popUp = await page.context().newPage();
      await popUp.bringToFront();
      await popUp.close();
      await page.bringToFront();
      await clickAt(page, '[value=approve]');
      await expectUndecided(page);
      await page.waitForTimeout(900);
      await clickAt(page, '[value=approve]');
      expect((await redirectOf(page)).has('code')).toBe(true);
    });

    it('O166 ignores the Enter key on Allow as long, with scripts', async () => {
      const page = await openConsent();
      await page.focus('[value=approve]');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Enter');
      await expectUndecided(page);
      await page.waitForTimeout(900);
      await page.keyboard.press('Enter');
      expect((await redirectOf(page)).has('code')).toBe(true);
    });

    it('O166 accepts Cancel at once', async () => {
      const page = await openConsent();
      await clickAt(page, '[value=deny]');
      expect((await redirectOf(page)).get('error')).toBe('access_denied');
    });

    it('O166 stays at the top of the page, whatever fragment the link of the app has', async () => {
      const page = await openConsent();
      await page.setViewportSize({ width: 400, height: 300 });
      const link = authorizeLink(await addClient('confidential'));
      for (const fragment of ['#:~:text=Allow', '#:~:text=Where', '#never-title', '#scope-0']) {
        await chrome.open(page, `${link}${fragment}`);
        await page.waitForTimeout(200);
        const state = '[scrollY, document.activeElement.tagName]';
        expect([fragment, await page.evaluate(state)]).toEqual([fragment, [0, 'BODY']]);
      }
    });
  });

  it.each([true, false])(
    'O148 issues one code for a double click on Allow, with and without scripts (%s)',
    async (javaScriptEnabled) => {
      const client = await addClient('confidential');
      const page = await newPage({ javaScriptEnabled });
      await open(page, client);
      await chrome.signIn(page, user);
      await page.getByRole('button', { name: 'Allow' }).dblclick();
      if (javaScriptEnabled) await tokensFrom(client, await redirectOf(page));
      // Polls instead of waiting for one navigation: the second click may abort the first navigation.
      else await expect.poll(() => page.url()).not.toMatch(/\/consent$/);
      expect(await countGrantsAndCodes(app(), client)).toEqual({ grants: 1, codes: 1 });
    },
  );

  it.each(PREFERENCES)(
    'C143 is accessible on every page of the flow, in $colours colours and in $language',
    async (preferences) => {
      const words = CATALOGUES[preferences.language];
      const page = await newPage({ javaScriptEnabled: true, ...contextOptions(preferences) });
      const inspect = (name: string): Promise<void> => expectAccessible(page, name, preferences);
      user = await app().addUser({ name: 'Ana Lee', photoUrl: `${app().baseUrl}/assets/icon.svg` });
      const client = await app().addClient({
        name: 'حديقة المشاركة',
        publisher: 'شركة الحديقة',
        isVerified: true,
        logo: PNG,
        redirectUris: [callback()],
      });
      await open(page, client);
      await inspect('phone');
      await page.fill('[name=phone]', 'nobody');
      await page.click(SIGN_IN_BUTTON);
      await inspect('phone-error');
      await page.fill('[name=phone]', user.phone);
      await page.click(SIGN_IN_BUTTON);
      await inspect('code');
      // The script of the page disables the button until the server accepts the request.
      await page.evaluate("document.querySelector('[name=again]').disabled = false");
      await page.getByRole('button', { name: words.code.sendNew }).click();
      await page.getByRole('status').waitFor();
      await inspect('code-too-early');
      app().clock.advance(6 * MINUTE);
      await page.reload();
      await page.getByText(words.code.closed).waitFor();
      await inspect('code-closed');
      await page.getByRole('button', { name: words.code.sendNew }).click();
      await page.getByRole('status').waitFor();
      await inspect('code-notice');
      await page.fill('[name=code]', 'wrong');
      await page.click(VERIFY_BUTTON);
      await inspect('code-error');
      await page.fill('[name=code]', await app().sms.password(user.phone));
      await page.click(VERIFY_BUTTON);
      await page.getByText(words.consent.details).click();
      await page.getByText(words.consent.neverTitle).waitFor();
      await inspect('consent');
      await waitForAllow(page);
      await page.click('[value=approve]');
      await page.waitForURL((url) => url.href.startsWith(callback()));
      await open(page, client);
      await page.getByText(words.repeatedConsent.permissions).waitFor();
      await inspect('repeated-consent');
      const name = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunte';
      const longNamed = await app().addClient({ name, redirectUris: [callback()] });
      await open(page, longNamed, { scope: 'profile.read' });
      await page.getByText(words.consent.details).waitFor();
      await inspect('consent-one-scope');
      await chrome.open(page, '/oauth/authorize');
      await inspect('error');
      const expected = /^Failed to load resource: the server responded with a status of 4(00|29)/;
      expect(chrome.consoleErrors.filter((message) => !expected.test(message))).toEqual([]);
    },
    60_000,
  );
});
