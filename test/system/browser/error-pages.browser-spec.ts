import type { Page } from 'playwright-core';
import { CATALOGUES } from '../../../src/pages/catalogue/catalogue.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { expectAccessible, inChromium, wanting, WISHES } from '../../support/chromium.js';
import type { TestClient } from '../../support/test-app.js';

const DAY = 24 * 3_600_000;
/** More authorization requests than the other pages of a test take. */
const CALLS = 20;

const settings = {
  env: { OAUTH_AUTHORIZE_CALLS: String(CALLS), OAUTH_ERRORS_BEFORE_SIGN_IN: 'page' },
};

inChromium('The pages for who lost the way', settings, (chrome) => {
  const { app } = chrome;
  let client: TestClient;

  beforeEach(async () => {
    app().clock.advance(DAY);
    client = await app().addClient();
  });

  async function open(page: Page, path = authorizeLink(client)): Promise<void> {
    await page.goto(new URL(path, app().baseUrl).href);
  }

  /** Answers the request of the consent page from elsewhere, as another tab with the same page would. */
  async function denyElsewhere(page: Page): Promise<void> {
    await page.waitForSelector('[value=deny]');
    const form: Record<string, string> = { decision: 'deny' };
    for (const name of ['transaction', 'token', 'user'])
      form[name] = await page.inputValue(`[name=${name}]`);
    const url = new URL('/oauth/authorize/decision', app().baseUrl).href;
    const answer = await page.context().request.post(url, { form, maxRedirects: 0 });
    expect(answer.status()).toBe(303);
  }

  it.each(WISHES)(
    'C143 In $colours colours and in $language axe finds nothing on the landing page, the error codes and the pages of errors',
    async (wishes) => {
      const words = CATALOGUES[wishes.language];
      const errors = words.errors('');
      const context = await chrome.visitor(wanting(wishes));
      const page = await context.newPage();
      const inspect = async (name: string, { title }: { title: string }): Promise<void> => {
        expect(await page.title()).toContain(title);
        await expectAccessible(page, name, wishes);
      };
      await open(page, '/');
      await inspect('landing', words.landing);
      await open(page, '/docs/errors');
      await inspect('error-codes', { title: 'Error codes' });

      await open(page, authorizeLink(client, { scope: 'nothing' }));
      await page.getByRole('link', { name: words.wayOn.returnTo('garden.example') }).waitFor();
      await inspect('refused-request', errors.refused(''));

      const send = page.getByRole('button', { name: words.phone.send });
      await open(page);
      await page.getByLabel(words.phone.label).fill('+14155550100');
      await page.evaluate("document.querySelector('[name=token]').value = 'of another browser'");
      await send.click();
      await inspect('foreign-form', errors.foreignForm);

      await open(page);
      await page.getByLabel(words.phone.label).fill('+14155550100');
      await context.clearCookies();
      await send.click();
      await inspect('no-cookies', errors.noCookies);

      await open(page);
      await chrome.signIn(page, await app().addUser(), words);
      await denyElsewhere(page);
      await page.getByRole('button', { name: words.consent.deny }).click();
      await inspect('answered', errors.alreadyAnswered);

      for (let call = 0; call < CALLS; call += 1) await app().fetch(authorizeLink(client));
      await open(page);
      await inspect('too-many-attempts', errors.tooManyAttempts(0));
    },
    60_000,
  );
});
