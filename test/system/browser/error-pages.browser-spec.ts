import type { Page } from 'playwright-core';
import { DAY } from '../../../src/platform/clock.js';
import { PageError, type PageErrorCode } from '../../../src/pages/page-errors.js';
import { CATALOGUES } from '../../../src/pages/translations/translations.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import {
  expectAccessible,
  inChromium,
  contextOptions,
  PREFERENCES,
} from '../../support/chromium.js';
import { rateLimits, type TestClient } from '../../support/test-app.js';

/** The limit of authorization requests. Only the last page of the test exceeds it. */
const MAX_CALLS = 20;

const settings = { env: rateLimits({ 'authorize-calls': MAX_CALLS }) };

inChromium('Error pages', settings, (chrome) => {
  const { app } = chrome;
  let client: TestClient;

  beforeEach(async () => {
    // The calls of the previous test no longer count.
    app().clock.advance(DAY);
    client = await app().addClient();
  });

  async function open(page: Page, path = authorizeLink(client)): Promise<void> {
    await chrome.open(page, path);
  }

  /** Denies with the form of the open consent page, as a second tab with the same page would. */
  async function denyInAnotherTab(page: Page): Promise<void> {
    await page.waitForSelector('[value=deny]');
    const form: Record<string, string> = { decision: 'deny' };
    for (const name of ['transaction', 'token', 'user'])
      form[name] = await page.inputValue(`[name=${name}]`);
    const url = new URL('/oauth/authorize/decision', app().baseUrl).href;
    const response = await page.context().request.post(url, { form, maxRedirects: 0 });
    expect(response.status()).toBe(303);
  }

  it.each(PREFERENCES)(
    'C143 are accessible, as are the landing page and the list of error codes, in $colours colours and in $language',
    async (preferences) => {
      const words = CATALOGUES[preferences.language];
      const textOf = (code: PageErrorCode) => new PageError(code).text(preferences.language, '');
      const context = await chrome.newContext(contextOptions(preferences));
      const page = await context.newPage();
      const inspect = async (name: string, { title }: { title: string }): Promise<void> => {
        expect(await page.title()).toContain(title);
        await expectAccessible(page, name, preferences);
      };
      await open(page, '/');
      await inspect('landing', words.landing);
      await open(page, '/docs/errors');
      await inspect('error-codes', { title: 'Error codes' });

      await open(page, '/nope');
      await inspect('not-found', words.notFound);

      await open(page, authorizeLink(client, { scope: 'nothing' }));
      await page.getByRole('link', { name: words.recovery.returnTo('Garden Share') }).waitFor();
      await inspect('refused-request', words.invalidAuthorizationRequest(''));

      const send = page.getByRole('button', { name: words.phone.send });
      await open(page);
      await page.getByLabel(words.phone.label).fill('+14155550100');
      await page.evaluate("document.querySelector('[name=token]').value = 'of another browser'");
      await send.click();
      await inspect('foreign-form', textOf('foreign_form'));

      await open(page);
      await page.getByLabel(words.phone.label).fill('+14155550100');
      await context.clearCookies();
      await send.click();
      await inspect('no-cookies', textOf('no_cookies'));

      await open(page);
      await chrome.signIn(page, await app().addUser(), words);
      await denyInAnotherTab(page);
      await page.getByRole('button', { name: words.consent.deny }).click();
      await inspect('answered', textOf('already_answered'));

      // A browser in which a user signed in has a limit of its own.
      await context.clearCookies();
      for (let call = 0; call < MAX_CALLS; call += 1) await app().fetch(authorizeLink(client));
      await open(page);
      await inspect('too-many-attempts', textOf('too_many_attempts'));
    },
    120_000,
  );
});
