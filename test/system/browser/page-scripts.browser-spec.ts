import type { Page } from 'playwright-core';
import type { UserWithPhone } from '../../../src/modules/users/users.service.js';
import { inChromium } from '../../support/chromium.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import type { TestClient } from '../../support/test-app.js';

const PHOTOS = 'https://photos.example';
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

inChromium('Scripts of the pages', {}, (chrome) => {
  const { app } = chrome;
  let client: TestClient;
  let user: UserWithPhone;

  beforeEach(async () => {
    client = await app().addClient({ redirectUris: [app().pageOnOtherHost('/livez')] });
    user = await app().addUser({ name: 'Ana Lee', photoUrl: `${PHOTOS}/ana.png` });
  });

  /** Answers requests for the photo. */
  async function openConsent(page: Page, status: number): Promise<void> {
    await page.route(`${PHOTOS}/**`, (route) =>
      route.fulfill({ status, contentType: 'image/png', body: status === 200 ? PNG : '' }),
    );
    await chrome.open(page, authorizeLink(client));
    await chrome.signIn(page, user);
    await page.getByText('Ana Lee').first().waitFor();
  }

  it('show the photo of the user over the initial', async () => {
    const page = await chrome.newPage();
    await openConsent(page, 200);
    await page.locator('.avatar img').waitFor({ state: 'visible' });
  });

  it.each([true, false])(
    'show the initial, and no icon of a broken image, if the photo does not load, with and without scripts (%s)',
    async (javaScriptEnabled) => {
      const page = await chrome.newPage({ javaScriptEnabled });
      await openConsent(page, 404);
      await page.waitForTimeout(300);
      expect(await page.locator('.avatar img').isVisible()).toBe(false);
      expect(await page.locator('.avatar span').textContent()).toBe('A');
    },
  );

  it('take the code from the text message, if the browser can read it (WebOTP)', async () => {
    const page = await chrome.newPage();
    // Chromium reads messages of a phone only. The test hands over the code instead.
    await page.addInitScript(`{
      window.OTPCredential = class {};
      const code = new Promise((resolve) => { window.receive = (value) => resolve({ code: value }); });
      navigator.credentials.get = ({ otp, signal }) => {
        window.transport = otp.transport;
        window.signal = signal;
        return code;
      };
    }`);
    await chrome.open(page, authorizeLink(client));
    const code = await chrome.requestCode(page, user);
    await page.getByLabel('6-digit code').waitFor();
    expect(await page.evaluate('window.transport')).toEqual(['sms']);
    await page.evaluate(`window.receive('${code}')`);
    await page.waitForURL(/\/consent$/);
  });

  it('stop waiting for the message when the user enters the code', async () => {
    const page = await chrome.newPage();
    await page.addInitScript(`{
      window.OTPCredential = class {};
      navigator.credentials.get = ({ signal }) => new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          document.cookie = 'aborted=1';
          reject(signal.reason);
        });
      });
    }`);
    await chrome.open(page, authorizeLink(client));
    await chrome.signIn(page, await app().addUser());
    await page.waitForURL(/\/consent$/);
    expect(await page.evaluate('document.cookie')).toBe('aborted=1');
    expect(chrome.consoleErrors).toEqual([]);
  });

  it('show times of the account in the time zone and the format of the browser', async () => {
    await app().accessToken(user, client);
    const context = await chrome.newContext({ timezoneId: 'Pacific/Kiritimati', locale: 'en-US' });
    const page = await context.newPage();
    await chrome.open(page, '/account/apps');
    await chrome.signIn(page, user);
    const time = page.locator('time').first();
    const iso = (await time.getAttribute('datetime')) ?? '';
    const expected = new Intl.DateTimeFormat('en-US', {
      dateStyle: 'long',
      timeStyle: 'short',
      timeZone: 'Pacific/Kiritimati',
    }).format(new Date(iso));
    await page.getByText(expected).first().waitFor();
    expect(await time.textContent()).not.toContain('UTC');
  });
});
