import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { inject } from 'vitest';
import { GrantUse } from '../../src/modules/oauth/grants/grant-use.js';
import type { User } from '../../src/modules/users/user.entity.js';
import { useTestApp } from '../support/test-app.js';

const chromiumFound = inject('browser');
const title = chromiumFound
  ? `The connected apps in ${chromiumFound.label}`
  : 'The connected apps (skipped: no Chromium found)';
const SCREENSHOTS = 'screenshots';
const NARROW = { width: 320, height: 640 };
const WIDE = { width: 1280, height: 800 };

describe.skipIf(chromiumFound === null)(title, () => {
  const folder = join(tmpdir(), `platform_browser_${randomBytes(6).toString('hex')}`);
  const [engine = { kind: 'sqlite' as const, label: 'SQLite' }] = inject('engines');
  let browser: Browser;
  let user: User;

  beforeAll(async () => {
    await mkdir(folder);
    await mkdir(SCREENSHOTS, { recursive: true });
    const args = ['--no-sandbox', '--disable-dev-shm-usage'];
    browser = await chromium.launch({ executablePath: chromiumFound?.path, args });
  });

  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const app = useTestApp({ engine, url: `sqlite:${join(folder, 'service.sqlite')}` });

  beforeEach(async () => {
    user = await app().addUser({ name: 'Ana Lee' });
  });

  async function connect(...names: string[]): Promise<string[]> {
    const clientIds = [];
    for (const name of names) {
      const client = await app().addClient({ name });
      const token = await app().accessToken(user, client);
      if (name.startsWith('G')) await app().call(token, 'GET', '/me');
      clientIds.push(client.clientId);
    }
    await app().service(GrantUse).flush();
    return clientIds;
  }

  async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ javaScriptEnabled: false, ...options });
    await context.addInitScript({ content: axe.source });
    return context.newPage();
  }

  function urlOf(path: string): string {
    return new URL(path, app().baseUrl).href;
  }

  async function signIn(page: Page, path = '/account/apps'): Promise<void> {
    await page.goto(urlOf(path));
    await page.getByLabel('Your phone number').fill(user.phone);
    await page.getByRole('button', { name: 'Send me a code' }).click();
    await page.getByLabel('6-digit code').fill(await app().sms.password(user.phone));
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(urlOf(path));
  }

  it('O146 Without JavaScript, the ticked app loses its access and the other keeps it', async () => {
    await connect('Garden Share', 'Corner Store');
    const page = await newPage();
    await signIn(page);
    await page.getByLabel('Garden Share').check();
    await page.getByRole('button', { name: 'Remove access' }).click();
    expect(await page.getByRole('status').textContent()).toBe('Garden Share no longer has access.');
    expect(await page.getByRole('checkbox').count()).toBe(1);
    await page.getByLabel('Corner Store').waitFor();
    await page.context().close();
  });

  it('O146 A link straight to an app asks to sign in and comes back to that app', async () => {
    const [clientId = ''] = await connect('Garden Share', 'Corner Store');
    const page = await newPage();
    await signIn(page, `/account/apps/${clientId}`);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Garden Share');
    await page.getByRole('button', { name: 'Remove access' }).click();
    expect(await page.getByRole('status').textContent()).toBe('Garden Share no longer has access.');
    await page.goto(urlOf(`/account/apps/${clientId}`));
    expect(await page.title()).toMatch(/^Error: This app is not connected/);
    await page.getByRole('link', { name: 'Connected apps' }).click();
    await page.getByLabel('Corner Store').waitFor();
    await page.context().close();
  });

  it('O146 With the keyboard alone, an app is ticked and removed', async () => {
    await connect('Garden Share', 'Corner Store');
    const page = await newPage({ javaScriptEnabled: true });
    await signIn(page);
    await tabTo(page, 'input[name=client_id]');
    await page.keyboard.press('Space');
    await tabTo(page, '.danger');
    await page.screenshot({ path: join(SCREENSHOTS, 'apps-keyboard.png'), fullPage: true });
    await page.keyboard.press('Enter');
    await page.getByRole('status').waitFor();
    expect(await page.getByRole('status').textContent()).toBe('Corner Store no longer has access.');
    await page.context().close();
  });

  it('O146 With nothing ticked, the message takes focus and leads to the list', async () => {
    await connect('Garden Share');
    const page = await newPage({ javaScriptEnabled: true });
    await signIn(page);
    await page.getByRole('button', { name: 'Remove access' }).click();
    await page.waitForSelector('.summary');
    expect(await page.evaluate<string>('document.activeElement.className')).toBe('summary');
    await page
      .getByRole('link', { name: 'Nothing was removed, because no app is ticked.' })
      .click();
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('app-0');
    await page.context().close();
  });

  it.each(['light', 'dark', 'forced'] as const)(
    'In %s colours axe finds nothing on any page of the account, and 320 pixels need no sideways scrolling',
    async (colours) => {
      const page = await newPage({
        javaScriptEnabled: true,
        colorScheme: colours === 'dark' ? 'dark' : 'light',
        forcedColors: colours === 'forced' ? 'active' : 'none',
      });
      const inspect = async (name: string): Promise<void> => {
        expect({ name, ...(await faultsOf(page, `${name}-${colours}`)) }).toEqual({
          name,
          tooWide: [],
          violations: [],
        });
      };
      const long =
        'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';
      const [clientId = ''] = await connect('Garden Share', 'Corner Store', long);
      await page.goto(urlOf('/account/apps'));
      await inspect('apps-phone');
      await page.getByLabel('Your phone number').fill(user.phone);
      await page.getByRole('button', { name: 'Send me a code' }).click();
      await inspect('apps-code');
      await signIn(page);
      await inspect('apps');
      await page.getByRole('button', { name: 'Remove access' }).click();
      await page.waitForSelector('.summary');
      await inspect('apps-error');
      await page.goto(urlOf(`/account/apps/${clientId}`));
      await inspect('apps-one');
      await page.getByRole('button', { name: 'Remove access' }).click();
      await page.getByRole('status').waitFor();
      await inspect('apps-notice');
      await page.getByText('Remove all apps').click();
      await inspect('apps-all');
      await page.getByRole('button', { name: 'Remove all 2 apps' }).click();
      await page.getByText('No app has access').waitFor();
      await inspect('apps-none');
      await page.goto(urlOf(`/account/apps/${clientId}`));
      await inspect('apps-unknown');
      await page.context().close();
    },
    60_000,
  );
});

async function tabTo(page: Page, selector: string): Promise<void> {
  const isFocused = `document.activeElement.matches(${JSON.stringify(selector)})`;
  for (let tabs = 0; !(await page.evaluate<boolean>(isFocused)); tabs += 1) {
    if (tabs === 20) throw new Error(`Twenty tabs do not reach ${selector}.`);
    await page.keyboard.press('Tab');
  }
}

/** What axe finds and at which widths the page does not fit, at the least width and at a usual one; takes a picture of both. */
async function faultsOf(
  page: Page,
  name: string,
): Promise<{ tooWide: number[]; violations: string[] }> {
  const tooWide = [];
  const violations = [];
  for (const viewport of [NARROW, WIDE]) {
    await page.setViewportSize(viewport);
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    if (width > viewport.width) tooWide.push(viewport.width);
    const found = await page.evaluate<axe.AxeResults>('axe.run()');
    violations.push(...found.violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`));
    const path = join(SCREENSHOTS, `${name}-${viewport.width}.png`);
    await page.screenshot({ path, fullPage: true });
  }
  return { tooWide, violations };
}
