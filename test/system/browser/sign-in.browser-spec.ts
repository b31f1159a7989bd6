import type { Page } from 'playwright-core';
import { exchange } from '../../support/oauth-flow.js';
import { inChromium } from '../../support/chromium.js';
import { expectTokenError, countGrantsAndCodes } from '../../support/responses.js';
import type { TestClient } from '../../support/test-app.js';

inChromium('Tabs, the back button and what is typed', {}, (chrome) => {
  /** An app whose callback is a page of this service that needs no sign-in. */
  function addClient(): Promise<TestClient> {
    return chrome.app().addClient({ redirectUris: [`${chrome.app().baseUrl}/livez`] });
  }

  async function allow(page: Page): Promise<string> {
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(/\/livez\?/);
    return new URL(page.url()).searchParams.get('code') ?? '';
  }

  const focused = (page: Page, member: 'id' | 'className'): Promise<string> =>
    page.evaluate<string>(`document.activeElement.${member}`);

  it('O148 After Allow, back and a reload do not make a second code', async () => {
    const client = await addClient();
    const page = await chrome.tab(await chrome.visitor(), client);
    await chrome.signIn(page, await chrome.app().addUser());
    await allow(page);
    await page.goBack().catch(() => null);
    // The page before came from a form, so the browser shows none until it may send that form again.
    const reloaded = async (): Promise<string> => {
      await page.reload().catch(() => null);
      return page.title();
    };
    await expect
      .poll(reloaded, { timeout: 15_000 })
      .toMatch(/^Error: This request was already answered/);
    expect(await countGrantsAndCodes(chrome.app(), client)).toEqual({ grants: 1, codes: 1 });
  });

  it('O148 Two tabs of two apps, answered in reverse order, give each app its own code', async () => {
    const [first, second] = [await addClient(), await addClient()];
    const user = await chrome.app().addUser();
    const context = await chrome.visitor();
    const one = await chrome.tab(context, first);
    const two = await chrome.tab(context, second);
    await chrome.signIn(one, user);
    await two.getByLabel('Your phone number').fill(user.phone);
    await two.getByRole('button', { name: 'Send me a code' }).click();
    const [codeOfSecond, codeOfFirst] = [await allow(two), await allow(one)];
    expect(chrome.app().sms.count(user.phone)).toBe(1);
    const swapped = await exchange(chrome.app(), second, codeOfFirst);
    await expectTokenError(swapped, 'invalid_grant');
    await expectTokenError(await exchange(chrome.app(), first, codeOfSecond), 'invalid_grant');
    expect((await exchange(chrome.app(), first, codeOfFirst)).status).toBe(200);
    expect((await exchange(chrome.app(), second, codeOfSecond)).status).toBe(200);
  });

  it('O149 The message about a code takes focus, and its link leads to the field', async () => {
    const page = await chrome.tab(await chrome.visitor(), await addClient());
    await chrome.askForCode(page, await chrome.app().addUser());
    await page.getByLabel('6-digit code').fill('12345');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForSelector('#code-error');
    expect(await focused(page, 'className')).toBe('summary');
    await page.getByRole('link', { name: 'Enter the 6 digits of the code.' }).click();
    expect(await focused(page, 'id')).toBe('code');
    expect(await page.getAttribute('#code', 'aria-describedby')).toContain('code-error');
  });

  it('O150 The message about a phone takes focus, and its link leads to the field', async () => {
    const page = await chrome.tab(await chrome.visitor(), await addClient());
    await page.getByLabel('Your phone number').fill('nobody');
    await page.getByRole('button', { name: 'Send me a code' }).click();
    await page.waitForSelector('#phone-error');
    expect(await focused(page, 'className')).toBe('summary');
    await page.locator('.summary a').click();
    expect(await focused(page, 'id')).toBe('phone');
  });
});
