import type { BrowserContextOptions, Page } from 'playwright-core';
import { GrantUsageRecorder } from '../../../src/modules/oauth/tokens/grant-usage-recorder.js';
import type { UserWithPhone } from '../../../src/modules/users/users.service.js';
import { CATALOGUES } from '../../../src/pages/translations/translations.js';
import {
  expectAccessible,
  inChromium,
  contextOptions,
  PREFERENCES,
} from '../../support/chromium.js';

/** The app that has used its access. The page shows the others as not used yet. */
const USED_APP = 'Garden Share';

inChromium('Connected apps page', {}, (chrome) => {
  const { app } = chrome;
  let user: UserWithPhone;

  beforeEach(async () => {
    user = await app().addUser({ name: 'Ana Lee' });
  });

  /** Gives new apps with these names access. Returns their client ids. */
  async function connect(...names: string[]): Promise<string[]> {
    const clientIds = [];
    for (const name of names) {
      const client = await app().addClient({ name });
      const token = await app().accessToken(user, client);
      if (name === USED_APP) await app().call(token, 'GET', '/me');
      clientIds.push(client.clientId);
    }
    await app().service(GrantUsageRecorder).flush();
    return clientIds;
  }

  function newPage(options: BrowserContextOptions = {}): Promise<Page> {
    return chrome.newPage({ javaScriptEnabled: false, ...options });
  }

  async function signIn(page: Page, path = '/account/apps'): Promise<void> {
    await chrome.open(page, path);
    await chrome.signIn(page, user);
    await page.waitForURL(`${app().baseUrl}${path}`);
  }

  it('O146 C143 disconnects one app only, after a confirmation, without JavaScript', async () => {
    await connect(USED_APP, 'Corner Store');
    const page = await newPage();
    await signIn(page);
    await page.getByRole('link', { name: 'Disconnect Garden Share' }).click();
    await page.getByRole('link', { name: 'Keep it connected' }).click();
    await page.getByRole('link', { name: 'Disconnect Garden Share' }).click();
    await page.getByRole('button', { name: 'Disconnect' }).click();
    expect(await page.getByRole('status').textContent()).toBe('Garden Share no longer has access.');
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual([
      'Corner Store',
      'Where you are signed in',
    ]);
  });

  it('O146 O148 shows the result of a double click on "Disconnect", with scripts', async () => {
    const [clientId = ''] = await connect(USED_APP, 'Corner Store');
    const page = await newPage({ javaScriptEnabled: true });
    await signIn(page, `/account/apps/${clientId}`);
    await page.getByRole('button', { name: 'Disconnect' }).dblclick();
    expect(await page.getByRole('status').textContent()).toBe('Garden Share no longer has access.');
  });

  it.each(PREFERENCES)(
    'C143 is accessible on every account page, in $colours colours and in $language',
    async (preferences) => {
      const words = CATALOGUES[preferences.language];
      const page = await newPage({ javaScriptEnabled: true, ...contextOptions(preferences) });
      const inspect = (name: string): Promise<void> => expectAccessible(page, name, preferences);
      const longName = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunte';
      const others = Array.from({ length: 9 }, (_, index) => `App ${index + 1}`);
      const [clientId = ''] = await connect(USED_APP, 'Corner Store', longName, ...others);
      await chrome.open(page, '/account/apps');
      await inspect('apps-phone');
      await page.getByLabel(words.phone.label).fill(user.phone);
      await page.getByRole('button', { name: words.phone.send }).click();
      await inspect('apps-code');
      await page.getByLabel(words.code.label).fill(await app().sms.password(user.phone));
      await page.getByRole('button', { name: words.code.submit }).click();
      await page.waitForURL(/\/account\/apps$/);
      await inspect('apps');
      await chrome.open(page, `/account/apps/${clientId}`);
      await inspect('apps-one');
      await page.getByRole('button', { name: words.apps.disconnect }).click();
      await page.getByRole('status').waitFor();
      await inspect('apps-notice');
      await page.getByText(words.apps.disconnectAll, { exact: true }).click();
      await inspect('apps-all');
      await page.getByRole('button', { name: words.apps.confirmDisconnectAll(11) }).click();
      await page.getByText(words.apps.none).waitFor();
      await inspect('apps-none');
      await chrome.open(page, `/account/apps/${clientId}`);
      await inspect('apps-unknown');
    },
    60_000,
  );
});
