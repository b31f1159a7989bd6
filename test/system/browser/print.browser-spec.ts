import type { Page } from 'playwright-core';
import { inChromium, waitForAllow } from '../../support/chromium.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { CATALOGUES } from '../../../src/pages/translations/translations.js';

/** A4 at 96 pixels per inch. */
const PAPER = { width: 794, height: 1123 };

const APP_NAME = 'Verein der Freunde und Nachbarn des Gartens am Alten Bahnhof';
const PUBLISHER = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunte';
const MEMBER_NAME = 'María de los Ángeles Fernández-Villaverde Gutiérrez de Soto';

/** In the browser: what would cover other parts of the paper, and cut texts. Hidden texts for screen readers are cut on purpose. */
const FAULTS = `[...document.querySelectorAll('body *')]
  .filter((element) => element.checkVisibility() && !element.matches('.visually-hidden'))
  .filter((element) => {
    const { position, overflow } = getComputedStyle(element);
    const isCut = overflow !== 'visible' && element.scrollWidth > element.clientWidth;
    return ['sticky', 'fixed'].includes(position) || isCut;
  })
  .map((element) => element.outerHTML)`;

inChromium('Printed pages', {}, (chrome) => {
  const { app } = chrome;

  async function expectComplete(page: Page, ...texts: string[]): Promise<void> {
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate(FAULTS)).toEqual([]);
    const printed = await page.locator('body').innerText();
    for (const text of texts) expect(printed).toContain(text);
    await page.emulateMedia({ media: 'screen' });
  }

  it('O26 show the full names and every permission, and nothing covers them', async () => {
    const page = await chrome.newPage({ viewport: PAPER });
    const redirectUri = app().pageOnOtherHost('/livez');
    const client = await app().addClient({
      name: APP_NAME,
      publisher: PUBLISHER,
      redirectUris: [redirectUri],
    });
    const permissions = client.scopes.map((scope) => CATALOGUES.en.scopes[scope]);
    const texts = [APP_NAME, PUBLISHER, MEMBER_NAME, new URL(redirectUri).host, ...permissions];
    await chrome.open(page, authorizeLink(client));
    await chrome.signIn(page, await app().addUser({ name: MEMBER_NAME }));
    await waitForAllow(page);
    await expectComplete(page, ...texts);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(/\?code=/);
    await chrome.open(page, authorizeLink(client));
    await waitForAllow(page);
    await expectComplete(page, ...texts);
    await chrome.open(page, '/account/apps');
    await expectComplete(page, APP_NAME, MEMBER_NAME, ...permissions);
    await chrome.open(page, '/docs/guide');
    await expectComplete(page);
  });
});
