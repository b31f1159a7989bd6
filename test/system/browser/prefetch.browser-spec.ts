import { inChromium, usePartnerSite } from '../../support/chromium.js';
import { authorizeLink } from '../../support/oauth-flow.js';

inChromium('Speculation rules of a partner', {}, (chrome) => {
  const { app } = chrome;
  let link = '';
  let action: 'prefetch' | 'prerender' = 'prefetch';
  const site = usePartnerSite(({ url = '/' }, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    if (url !== '/') {
      response.end('<!doctype html><title>Back</title><link rel="icon" href="data:,">');
      return;
    }
    const rules = JSON.stringify({
      [action]: [{ source: 'list', urls: [link], eagerness: 'immediate' }],
    });
    response.end(
      `<!doctype html><title>Partner</title><link rel="icon" href="data:,">
<script type="speculationrules">${rules}</script><a href="${link.replaceAll('&', '&amp;')}">Connect</a>`,
    );
  });

  it.each(['prefetch', 'prerender'] as const)(
    'O131 that %s the authorization link store nothing before the click, which works',
    async (kind) => {
      action = kind;
      const client = await app().addClient({ redirectUris: [`${site()}/callback`] });
      // Another host name, so that the sites differ.
      link = new URL(authorizeLink(client), app().baseUrl).href;
      const page = await chrome.newPage();
      const requested: string[] = [];
      page.context().on('request', (request) => requested.push(request.url()));
      const count = async (): Promise<number> => {
        const [row] = await app().dataSource.query<{ count: number }[]>(
          'SELECT COUNT(*) AS count FROM authorizations',
        );
        return Number(row?.count);
      };
      const before = await count();
      await page.goto(site().replace('127.0.0.1', 'localhost'));
      await page.waitForTimeout(1500);
      expect(await count()).toBe(before);
      expect(await page.context().cookies(app().baseUrl)).toEqual([]);
      await page.getByRole('link', { name: 'Connect' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(await count()).toBe(before + 1);
      await chrome.signIn(page, await app().addUser());
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.waitForURL(/\/callback\?code=/);
    },
  );
});
