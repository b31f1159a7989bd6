import type { Page } from 'playwright-core';
import { authorizeLink, exchange } from '../../support/oauth-flow.js';
import { inChromium } from '../../support/chromium.js';
import { expectTokenError } from '../../support/responses.js';
import type { TestClient } from '../../support/test-app.js';

inChromium('Sign-in: tabs and input errors', {}, (chrome) => {
  /** Adds an app whose redirect URI is a page of this service. */
  function addClient(): Promise<TestClient> {
    return chrome.app().addClient({ redirectUris: [chrome.app().pageOnOtherHost('/livez')] });
  }

  async function allow(page: Page): Promise<string> {
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(/\/livez\?/);
    return new URL(page.url()).searchParams.get('code') ?? '';
  }

  it('O148 sends each app its own authorization code from two tabs that are decided in reverse order', async () => {
    const [first, second] = [await addClient(), await addClient()];
    const user = await chrome.app().addUser();
    const context = await chrome.newContext();
    const firstTab = await chrome.openAuthorization(context, first);
    const secondTab = await chrome.openAuthorization(context, second);
    await chrome.signIn(firstTab, user);
    await secondTab.getByLabel('Your phone number').fill(user.phone);
    await secondTab.getByRole('button', { name: 'Send me a code' }).click();
    const [codeOfSecond, codeOfFirst] = [await allow(secondTab), await allow(firstTab)];
    // The second tab needs no one-time password, because the browser is already signed in.
    expect(chrome.app().sms.count(user.phone)).toBe(1);
    const swapped = await exchange(chrome.app(), second, codeOfFirst);
    await expectTokenError(swapped, 'invalid_grant');
    await expectTokenError(await exchange(chrome.app(), first, codeOfSecond), 'invalid_grant');
    expect((await exchange(chrome.app(), first, codeOfFirst)).status).toBe(200);
    expect((await exchange(chrome.app(), second, codeOfSecond)).status).toBe(200);
  });

  it('O167 counts down to the next request for a code, in minutes and then in seconds', async () => {
    const page = await chrome.newPage();
    await page.clock.install();
    // As after a limit of messages per hour.
    await page.route(/\/code$/, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(/data-seconds="\d+"/, 'data-seconds="200"');
      await route.fulfill({ response, body });
    });
    await page.goto(new URL(authorizeLink(await addClient()), chrome.app().baseUrl).href);
    await chrome.requestCode(page, await chrome.app().addUser());
    await page.getByLabel('6-digit code').waitFor();
    // Requests after a redirect are not intercepted.
    await page.reload();
    const resend = page.getByRole('button', { name: 'Request new code' });
    for (const [seconds, text] of [
      [10, '4 minutes'],
      [50, '3 minutes'],
      [60, '80 seconds'],
    ] as const) {
      await page.clock.runFor(seconds * 1000);
      expect(await page.locator('[data-seconds]').textContent()).toBe(text);
      expect(await resend.isDisabled()).toBe(true);
    }
    await page.clock.runFor(81_000);
    expect(await page.locator('[data-seconds]').count()).toBe(0);
    expect(await resend.isEnabled()).toBe(true);
  });

  it('O149 O150 focuses the field of a malformed phone number or one-time password, described by its error', async () => {
    const page = await chrome.openAuthorization(await chrome.newContext(), await addClient());
    const expectError = async (id: string): Promise<void> => {
      await page.waitForSelector(`#${id}-error`);
      expect(await page.evaluate<string>('document.activeElement.id')).toBe(id);
      expect(await page.getAttribute(`#${id}`, 'aria-describedby')).toContain(`${id}-error`);
    };
    await page.getByLabel('Your phone number').fill('nobody');
    await page.getByRole('button', { name: 'Send me a code' }).click();
    await expectError('phone');
    await chrome.requestCode(page, await chrome.app().addUser());
    await page.getByLabel('6-digit code').fill('12345');
    await page.getByRole('button', { name: 'Continue' }).click();
    await expectError('code');
  });
});
