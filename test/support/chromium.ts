import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from 'playwright-core';
import { inject } from 'vitest';
import type { User } from '../../src/modules/users/user.entity.js';
import { CATALOGUES } from '../../src/pages/catalogue/catalogue.js';
import { sqliteFile } from './engines.js';
import { useTestApp, type TestApp, type TestClient } from './test-app.js';
import { authorizeLink } from './visitor.js';

/** Where tests put the pictures that they take. */
export const SCREENSHOTS = 'screenshots';

/** The application on SQLite and a Chromium, for the tests of one `describe`. */
export class Chromium {
  /** What the consoles and scripts of all pages of this test complained of. */
  readonly complaints: string[] = [];

  constructor(
    readonly app: () => TestApp,
    private readonly browser: () => Browser,
  ) {}

  /** A fresh browser, whose pages share their cookies and trust any certificate. It ends with its test. */
  async visitor(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await this.browser().newContext({ ignoreHTTPSErrors: true, ...options });
    context.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.complaints.push(message.text());
    });
    context.on('weberror', (error) => this.complaints.push(error.error().message));
    return context;
  }

  /** A tab on the app's link. */
  async tab(context: BrowserContext, client: TestClient): Promise<Page> {
    const page = await context.newPage();
    await page.goto(new URL(authorizeLink(client), this.app().baseUrl).href);
    return page;
  }

  async askForCode(
    page: Page,
    { phone }: Pick<User, 'phone'>,
    words = CATALOGUES.en,
  ): Promise<string> {
    await page.getByLabel(words.phone.label).fill(phone);
    await page.getByRole('button', { name: words.phone.send }).click();
    return this.app().sms.password(phone);
  }

  async signIn(page: Page, user: Pick<User, 'phone'>, words = CATALOGUES.en): Promise<void> {
    const code = await this.askForCode(page, user, words);
    await page.getByLabel(words.code.label).fill(code);
    await page.getByRole('button', { name: words.code.submit }).click();
  }
}

export interface ChromiumSettings {
  /** Switches of Chromium's command line. */
  args?: string[];
  /** Of the application. */
  env?: Record<string, string>;
}

/** Runs the suite in the Chromium of this run; without one it shows as skipped. */
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
      });
    });
    afterAll(() => browser?.close());
    const chrome = new Chromium(app, () => {
      if (!browser) throw new Error('Chromium starts before the tests.');
      return browser;
    });
    beforeEach(() => {
      chrome.complaints.length = 0;
    });
    afterEach(async () => {
      for (const context of browser?.contexts() ?? []) await context.close();
    });
    suite(chrome);
  });
}

/** Presses Tab until the element has focus. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  const isFocused = `document.activeElement.matches(${JSON.stringify(selector)})`;
  for (let tabs = 0; !(await page.evaluate<boolean>(isFocused)); tabs += 1) {
    if (tabs === 20) throw new Error(`Twenty tabs do not reach ${selector}.`);
    await page.keyboard.press('Tab');
  }
}
