import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type Locator, type Page } from 'playwright-core';
import { inject } from 'vitest';
import { ana, ben } from '../../src/modules/demo/demo-content.js';
import { DemoService } from '../../src/modules/demo/demo.service.js';
import { useTestApp } from '../support/test-app.js';

const chromiumFound = inject('browser');
const title = chromiumFound
  ? `Swagger UI as a client, in ${chromiumFound.label}`
  : 'Swagger UI as a client (skipped: no Chromium found)';
const SCREENSHOTS = 'screenshots';

describe.skipIf(chromiumFound === null)(title, () => {
  const folder = join(tmpdir(), `platform_docs_${randomBytes(6).toString('hex')}`);
  const [engine = { kind: 'sqlite' as const, label: 'SQLite' }] = inject('engines');
  let browser: Browser;
  let page: Page;
  let complaints: string[];

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

  const app = useTestApp(
    { engine, url: `sqlite:${join(folder, 'service.sqlite')}` },
    { DEMO: '1' },
  );

  beforeAll(async () => {
    await app().service(DemoService).seedIfEmpty();
  });

  /** A partner opens the documentation in a fresh browser. What its windows complain of lands in `complaints`. */
  beforeEach(async () => {
    complaints = [];
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    context.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    context.on('weberror', (error) => complaints.push(error.error().message));
    page = await context.newPage();
    await page.goto(new URL('/docs', app().baseUrl).href);
  });
  afterEach(() => page.context().close());

  const dialog = (): Locator => page.locator('.dialog-ux');

  /** Clicks Authorize, twice as Swagger UI wants it, and answers on our pages in the window that opens. */
  async function authorize({ phone }: { phone: string }, answer: 'Allow' | 'Deny'): Promise<void> {
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    const opening = page.waitForEvent('popup');
    await dialog().getByRole('button', { name: 'Apply given OAuth2 credentials' }).click();
    const popup = await opening;
    await popup.getByLabel('Your phone number').fill(phone);
    await popup.getByRole('button', { name: 'Send me a code' }).click();
    await popup.getByLabel('6-digit code').fill(await app().sms.password(phone));
    await popup.getByRole('button', { name: 'Continue' }).click();
    const closing = popup.waitForEvent('close');
    await popup.getByRole('button', { name: answer }).click();
    await closing;
  }

  /** Executes `GET /dev/v1/me` and returns the status and body that the page then shows. */
  async function tryMe(): Promise<{ status: string; body: string }> {
    const operation = page.locator('.opblock', { hasText: '/dev/v1/me' });
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Execute' }).click();
    const live = operation.locator('.live-responses-table .response');
    const status = await live.locator('.response-col_status').innerText();
    return { status: status.trim(), body: await live.locator('.highlight-code').innerText() };
  }

  it('O147 a partner clicks Authorize, signs in, allows, and reads a 200 of GET /dev/v1/me', async () => {
    await authorize(ana, 'Allow');
    await expect.poll(() => dialog().getByText('Authorized').count()).toBe(1);
    await page.screenshot({ path: join(SCREENSHOTS, 'docs-authorized.png') });
    await dialog().getByRole('button', { name: 'Close', exact: true }).click();
    const { status, body } = await tryMe();
    await page.screenshot({ path: join(SCREENSHOTS, 'docs-me.png') });
    expect(status).toBe('200');
    expect(body).toContain('"name": "Ana Lee"');
    expect(complaints).toEqual([]);
  });

  it('O147 a partner who denies is told so, and has no token', async () => {
    await authorize(ben, 'Deny');
    const told = dialog().locator('.errors');
    await expect.poll(() => told.count()).toBe(1);
    expect(await told.innerText()).toContain('The user did not allow it.');
    await page.screenshot({ path: join(SCREENSHOTS, 'docs-denied.png') });
    expect(complaints).toEqual([]);
    await dialog().getByRole('button', { name: 'Close', exact: true }).click();
    const { status, body } = await tryMe();
    expect(status).toBe('401');
    expect(body).toContain('"error": "unauthorized"');
  });
});
