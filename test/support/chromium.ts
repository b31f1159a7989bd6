import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { inject } from 'vitest';
import type { User } from '../../src/modules/users/user.entity.js';
import { useTestApp, type TestApp, type TestClient } from './test-app.js';
import { authorizeLink } from './visitor.js';

/** The application on SQLite and a Chromium, for the tests of one `describe`. */
export class Chromium {
  /** What the consoles of all pages complained of. */
  readonly complaints: string[] = [];

  constructor(
    readonly app: () => TestApp,
    private readonly browser: () => Browser,
  ) {}

  /** A fresh browser, whose pages share their cookies and trust any certificate. */
  async visitor(): Promise<BrowserContext> {
    const context = await this.browser().newContext({ ignoreHTTPSErrors: true });
    context.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.complaints.push(message.text());
    });
    return context;
  }

  /** A tab on the app's link. */
  async tab(context: BrowserContext, client: TestClient): Promise<Page> {
    const page = await context.newPage();
    await page.goto(new URL(authorizeLink(client), this.app().baseUrl).href);
    return page;
  }

  async askForCode(page: Page, { phone }: User): Promise<string> {
    await page.getByLabel('Your phone number').fill(phone);
    await page.getByRole('button', { name: 'Send me a code' }).click();
    return this.app().sms.password(phone);
  }

  async signIn(page: Page, user: User): Promise<void> {
    const code = await this.askForCode(page, user);
    await page.getByLabel('6-digit code').fill(code);
    await page.getByRole('button', { name: 'Continue' }).click();
  }
}

/** Runs the suite in the Chromium of this run; without one it shows as skipped. */
export function inChromium(title: string, args: string[], suite: (chrome: Chromium) => void): void {
  const found = inject('browser');
  const place = found ? `in ${found.label}` : '(skipped: no Chromium found)';
  describe.skipIf(found === null)(`${title} ${place}`, () => {
    const folder = join(tmpdir(), `platform_browser_${randomBytes(6).toString('hex')}`);
    const [engine = { kind: 'sqlite' as const, label: 'SQLite' }] = inject('engines');
    let browser: Browser | undefined;
    beforeAll(async () => {
      await mkdir(folder);
      browser = await chromium.launch({
        executablePath: found?.path,
        args: ['--no-sandbox', '--disable-dev-shm-usage', ...args],
      });
    });
    afterAll(async () => {
      await browser?.close();
      await rm(folder, { recursive: true, force: true });
    });
    const app = useTestApp({ engine, url: `sqlite:${join(folder, 'service.sqlite')}` });
    const chrome = new Chromium(app, () => {
      if (!browser) throw new Error('Chromium starts before the tests.');
      return browser;
    });
    beforeEach(() => chrome.complaints.splice(0));
    suite(chrome);
  });
}
