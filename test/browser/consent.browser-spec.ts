import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { inject } from 'vitest';
import type { User } from '../../src/modules/users/user.entity.js';
import { freePort } from '../support/free-port.js';
import { json, type TokenBody } from '../support/json.js';
import { stored } from '../support/oauth-answers.js';
import { useTestApp, type TestClient } from '../support/test-app.js';
import { authorizeLink, exchange } from '../support/visitor.js';

const chromiumFound = inject('browser');
const title = chromiumFound
  ? `The way through the consent page in ${chromiumFound.label}`
  : 'The way through the consent page (skipped: no Chromium found)';
const SCREENSHOTS = 'screenshots';
const NARROW = { width: 320, height: 640 };
const SIGN_IN_BUTTON = 'form[action="/oauth/authorize/sign-in"] button';
const VERIFY_BUTTON = 'form[action="/oauth/authorize/verify"] button';

/** Plays the app that the browser comes back to. */
async function startCallback(): Promise<{ server: Server; url: string }> {
  const port = await freePort();
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end('<!doctype html><title>Back at the app</title><link rel="icon" href="data:,">');
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${port}/callback` };
}

describe.skipIf(chromiumFound === null)(title, () => {
  const folder = join(tmpdir(), `platform_browser_${randomBytes(6).toString('hex')}`);
  const [engine = { kind: 'sqlite' as const, label: 'SQLite' }] = inject('engines');
  let browser: Browser;
  let callback: { server: Server; url: string };
  let user: User;
  let complaints: string[];

  beforeAll(async () => {
    await mkdir(folder);
    await mkdir(SCREENSHOTS, { recursive: true });
    callback = await startCallback();
    const args = ['--no-sandbox', '--disable-dev-shm-usage'];
    browser = await chromium.launch({ executablePath: chromiumFound?.path, args });
  });

  afterAll(async () => {
    await browser?.close();
    callback?.server.closeAllConnections();
    callback?.server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const app = useTestApp({ engine, url: `sqlite:${join(folder, 'service.sqlite')}` });

  beforeEach(async () => {
    user = await app().addUser({ name: 'Ana Lee' });
    complaints = [];
  });

  function addClient(kind: TestClient['kind']): Promise<TestClient> {
    return app().addClient({ kind, redirectUris: [callback.url] });
  }

  /** A page of a fresh browser; what its console and its scripts complain of lands in `complaints`. */
  async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ javaScriptEnabled: false, ...options });
    await context.addInitScript({ content: axe.source });
    const page = await context.newPage();
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', ({ message }) => complaints.push(message));
    return page;
  }

  async function open(page: Page, client: TestClient): Promise<void> {
    await page.goto(new URL(authorizeLink(client), app().baseUrl).href);
  }

  async function signIn(page: Page): Promise<void> {
    await page.getByLabel('Your phone number').fill(user.phone);
    await page.getByRole('button', { name: 'Send me a code' }).click();
    await page.getByLabel('6-digit code').fill(await app().sms.password(user.phone));
    await page.getByRole('button', { name: 'Continue' }).click();
  }

  /** What the app is told when the browser comes back to it. */
  async function arrival(page: Page): Promise<URLSearchParams> {
    await page.waitForURL((url) => url.href.startsWith(callback.url));
    expect(await page.title()).toBe('Back at the app');
    expect(complaints).toEqual([]);
    await page.context().close();
    return new URL(page.url()).searchParams;
  }

  async function tokensFrom(client: TestClient, told: URLSearchParams): Promise<TokenBody> {
    expect(told.get('state')).toBe('af0ifjsldkj');
    expect(told.get('iss')).toBe(app().baseUrl);
    const answer = await exchange(app(), client, told.get('code') ?? '');
    expect(answer.status).toBe(200);
    return json<TokenBody>(answer);
  }

  it.each(['confidential', 'public'] as const)(
    'O147 Without JavaScript, Allow brings a %s app its code',
    async (kind) => {
      const client = await addClient(kind);
      const page = await newPage();
      await open(page, client);
      await signIn(page);
      await page.getByRole('button', { name: 'Allow' }).click();
      const { scope } = await tokensFrom(client, await arrival(page));
      expect(scope).toBe('profile.read posts.read posts.write analytics.read');
    },
  );

  it('A scope that the user unticked is not in the token', async () => {
    const client = await addClient('public');
    const page = await newPage();
    await open(page, client);
    await signIn(page);
    await page.getByLabel('Publish and delete posts and comments in your name').uncheck();
    await page.screenshot({ path: join(SCREENSHOTS, 'consent-unticked.png'), fullPage: true });
    await page.getByRole('button', { name: 'Allow' }).click();
    const { scope } = await tokensFrom(client, await arrival(page));
    expect(scope).toBe('profile.read posts.read analytics.read');
  });

  it('With the keyboard alone, Deny tells the app access_denied', async () => {
    const page = await newPage({ javaScriptEnabled: true });
    const tabTo = async (selector: string): Promise<void> => {
      const isFocused = `document.activeElement.matches(${JSON.stringify(selector)})`;
      for (let tabs = 0; !(await page.evaluate<boolean>(isFocused)); tabs += 1) {
        if (tabs === 20) throw new Error(`Twenty tabs do not reach ${selector}.`);
        await page.keyboard.press('Tab');
      }
    };
    await open(page, await addClient('confidential'));
    await tabTo('[name=phone]');
    await page.keyboard.type(user.phone);
    await tabTo(SIGN_IN_BUTTON);
    await page.keyboard.press('Enter');
    await page.waitForSelector('[name=code]');
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('code');
    await page.keyboard.type(await app().sms.password(user.phone));
    await tabTo(VERIFY_BUTTON);
    await page.keyboard.press('Space');
    await page.waitForSelector('[value=approve]');
    await tabTo('[value="posts.write"]');
    await page.keyboard.press('Space');
    expect(await page.isChecked('[value="posts.write"]')).toBe(false);
    await tabTo('[value=deny]');
    await page.screenshot({ path: join(SCREENSHOTS, 'consent-keyboard.png'), fullPage: true });
    await page.keyboard.press('Enter');
    const told = await arrival(page);
    expect(told.get('error')).toBe('access_denied');
    expect(told.has('code')).toBe(false);
  });

  it('O148 A double click on Allow makes one code', async () => {
    const client = await addClient('confidential');
    const page = await newPage();
    await open(page, client);
    await signIn(page);
    await page.getByRole('button', { name: 'Allow' }).dblclick();
    await page.waitForURL((url) => !url.pathname.endsWith('/verify'));
    expect(await stored(app(), client)).toEqual({ grants: 1, codes: 1 });
    await page.context().close();
  });

  it.each(['light', 'dark'] as const)(
    'In %s colours axe finds nothing on any page, and 320 pixels need no sideways scrolling',
    async (colorScheme) => {
      const page = await newPage({ javaScriptEnabled: true, colorScheme });
      const inspect = async (name: string): Promise<void> => {
        for (const viewport of [NARROW, { width: 1280, height: 800 }]) {
          await page.setViewportSize(viewport);
          const width = await page.evaluate<number>('document.documentElement.scrollWidth');
          expect({ name, fits: width <= viewport.width }).toEqual({ name, fits: true });
          const { violations } = await page.evaluate<axe.AxeResults>('axe.run()');
          expect(violations.map(({ id, nodes }) => `${name}: ${id} ${nodes[0]?.html}`)).toEqual([]);
          const path = join(SCREENSHOTS, `${name}-${colorScheme}-${viewport.width}.png`);
          await page.screenshot({ path, fullPage: true });
        }
      };
      await open(page, await addClient('confidential'));
      await inspect('phone');
      await page.fill('[name=phone]', 'nobody');
      await page.click(SIGN_IN_BUTTON);
      await inspect('phone-error');
      await page.fill('[name=phone]', user.phone);
      await page.click(SIGN_IN_BUTTON);
      await inspect('code');
      await page.getByRole('button', { name: 'Send a new code' }).click();
      await page.getByRole('status').waitFor();
      await inspect('code-notice');
      await page.fill('[name=code]', 'wrong');
      await page.click(VERIFY_BUTTON);
      await inspect('code-error');
      await page.fill('[name=code]', await app().sms.password(user.phone));
      await page.click(VERIFY_BUTTON);
      await inspect('consent');
      await page.goto(new URL('/oauth/authorize', app().baseUrl).href);
      await inspect('error');
      const known = /^Failed to load resource: the server responded with a status of 400/;
      expect(complaints.filter((complaint) => !known.test(complaint))).toEqual([]);
      await page.context().close();
    },
  );
});
