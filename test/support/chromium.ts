import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import axe from 'axe-core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { inject } from 'vitest';
import type { UserWithPhone } from '../../src/modules/users/users.service.js';
import { CATALOGUES } from '../../src/pages/translations/translations.js';
import type { Language } from '../../src/pages/language.js';
import type { Person } from './browser.js';
import { authorizeLink } from './oauth-flow.js';
import { byExtent } from '../suite.js';
import { sqliteFile } from './database.js';
import { type TestApp, type TestClient, useTestApp } from './test-app.js';

/** The folder of screenshots. */
export const SCREENSHOTS = 'screenshots';

/** The application on SQLite and a Chromium for one `describe`. */
export class Chromium {
  /** Console errors and warnings and uncaught script errors of all pages of the current test. */
  readonly consoleErrors: string[] = [];

  constructor(
    readonly app: () => TestApp,
    private readonly browser: () => Browser,
  ) {}

  /** Opens a browser context that trusts any certificate and is closed after the test. */
  async newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await this.browser().newContext({ ignoreHTTPSErrors: true, ...options });
    // Less than the timeout of a test, so that the error names the step and a retry is possible.
    context.setDefaultTimeout(10_000);
    context.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.consoleErrors.push(message.text());
    });
    context.on('weberror', (error) => this.consoleErrors.push(error.error().message));
    return context;
  }

  async newPage(options?: BrowserContextOptions): Promise<Page> {
    return (await this.newContext(options)).newPage();
  }

  /** Opens a path of the application. */
  async open(page: Page, path: string): Promise<void> {
    await page.goto(new URL(path, this.app().baseUrl).href);
  }

  /** Opens a page with the authorization request of the app. */
  async openAuthorization(context: BrowserContext, client: TestClient): Promise<Page> {
    const page = await context.newPage();
    await this.open(page, authorizeLink(client));
    return page;
  }

  /** Submits the phone form of the page. Returns the one-time password from the message. */
  async requestCode(
    page: Page,
    { phone }: Pick<UserWithPhone, 'phone'>,
    words = CATALOGUES.en,
  ): Promise<string> {
    const earlier = this.app().sms.count(phone);
    await page.getByLabel(words.phone.label).fill(phone);
    await page.getByRole('button', { name: words.phone.send }).click();
    return this.app().sms.password(phone, { afterMessages: earlier });
  }

  /** Signs in on a page that shows the phone form. @param user.code the fixed code of a test member, who gets no message */
  async signIn(page: Page, user: Person, words = CATALOGUES.en): Promise<void> {
    const code = user.code ?? (await this.requestCode(page, user, words));
    if (user.code !== undefined) {
      await page.getByLabel(words.phone.label).fill(user.phone);
      await page.getByRole('button', { name: words.code.submit }).click();
    }
    await page.getByLabel(words.code.label).fill(code);
    await page.getByRole('button', { name: words.code.submit }).click();
  }
}

export interface ChromiumSettings {
  /** Command line switches of Chromium. */
  args?: string[];
  /** Environment variables of the application. */
  env?: Record<string, string>;
}

/** Runs the suite in Chromium. Without Chromium it is skipped. */
export function inChromium(
  title: string,
  { args = [], env }: ChromiumSettings,
  suite: (chrome: Chromium) => void,
): void {
  const found = inject('browser');
  const place = found ? `in ${found.label}` : '(skipped: no Chromium found)';
  describe.skipIf(found === null)(`${title} ${place}`, () => {
    const app = useTestApp(sqliteFile(), env);
    let browser: Browser | undefined;
    beforeAll(async () => {
      browser = await chromium.launch({
        executablePath: found?.path,
        args: ['--no-sandbox', '--disable-dev-shm-usage', ...args],
        // Real browsers have the back/forward cache, which Playwright disables.
        ignoreDefaultArgs: ['--disable-back-forward-cache'],
      });
    });
    afterAll(() => browser?.close());
    const chrome = new Chromium(app, () => {
      if (!browser) throw new Error('Chromium is not started: call this in a test or hook.');
      return browser;
    });
    beforeEach(() => {
      chrome.consoleErrors.length = 0;
    });
    afterEach(async () => {
      for (const context of browser?.contexts() ?? []) await context.close();
    });
    suite(chrome);
  });
}

/** Starts the web server of a partner for a `describe`. Returns its origin. */
export function usePartnerSite(respond: RequestListener): () => string {
  const server = createServer(respond);
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Waits until Allow accepts clicks and the Enter key, which it ignores after the consent page has appeared. */
export async function waitForAllow(page: Page): Promise<void> {
  await page.locator('[value=approve]').click({ trial: true });
}

/**
 * Presses Back or Forward. A page that comes from the back/forward cache gets no `load` event, for which Playwright would wait; our
 * pages then load again.
 */
export async function pressHistory(page: Page, button: 'goBack' | 'goForward'): Promise<void> {
  await page[button]({ waitUntil: 'commit' });
  await page.waitForTimeout(RELOAD_MS);
  await waitUntilLoaded(page);
}

/** Like `waitForLoadState`, but also for a page that comes from the back/forward cache. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  await page.waitForFunction("document.readyState === 'complete'");
}

/** Presses Tab until the element has focus. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  const isFocused = `document.activeElement.matches(${JSON.stringify(selector)})`;
  for (let tabs = 0; !(await page.evaluate<boolean>(isFocused)); tabs += 1) {
    if (tabs === 20) throw new Error(`${selector} has no focus after 20 presses of Tab.`);
    await page.keyboard.press('Tab');
  }
}

/** Time for the script of a cached page to load the page again. */
const RELOAD_MS = 300;

const VIEWPORTS = [
  { width: 320, height: 640 },
  { width: 1280, height: 800 },
];

/** User preferences. Forced colours are the high contrast mode of Windows. */
export interface Preferences {
  colours: 'light' | 'dark' | 'forced';
  language: Language;
}

/** The tested combinations. Colours do not affect the layout, so not every pair is needed. */
const ALL_PREFERENCES: readonly Preferences[] = [
  { colours: 'dark', language: 'es' },
  { colours: 'light', language: 'en' },
  { colours: 'forced', language: 'en' },
];
export const PREFERENCES = ALL_PREFERENCES.slice(0, byExtent({ whole: 3, quick: 1 }));

/** The context options for these preferences. */
export function contextOptions({ colours, language }: Preferences): BrowserContextOptions {
  return {
    locale: language,
    colorScheme: colours === 'dark' ? 'dark' : 'light',
    forcedColors: colours === 'forced' ? 'active' : 'none',
  };
}

/** A script for the browser. Returns the words of buttons that are broken across lines. */
const BROKEN_WORDS = `[...document.querySelectorAll('.button, .link-button, summary')]
  .flatMap((button) => [...button.childNodes])
  .filter(({ nodeType }) => nodeType === Node.TEXT_NODE)
  .flatMap((node) => [...node.data.matchAll(/\\S+/g)].filter(({ 0: word, index }) => {
    const range = document.createRange();
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    return range.getClientRects().length > 1;
  }))
  .map(([word]) => word)`;

/**
 * Asserts that axe reports no violation, that the page does not scroll sideways and that no word of a button is broken. Checks a
 * width of 320 pixels (WCAG 2.2, 1.4.10) and desktop width, and takes a screenshot of both.
 */
export async function expectAccessible(
  page: Page,
  title: string,
  { colours, language }: Preferences,
): Promise<void> {
  const name = `${title}-${language}-${colours}`;
  await page.evaluate(`${axe.source}; undefined`);
  const problems = [];
  for (const viewport of VIEWPORTS) {
    await page.setViewportSize(viewport);
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    if (width > viewport.width) problems.push(`${width} pixels wide in ${viewport.width}`);
    const brokenWords = await page.evaluate<string[]>(BROKEN_WORDS);
    problems.push(
      ...brokenWords.map((word) => `"${word}" does not fit its button at ${viewport.width}`),
    );
    const { violations } = await page.evaluate<axe.AxeResults>('axe.run()');
    problems.push(...violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`));
    const path = join(SCREENSHOTS, `${name}-${viewport.width}.png`);
    await page.screenshot({ path, fullPage: true });
  }
  expect({ name, problems }).toEqual({ name, problems: [] });
}
