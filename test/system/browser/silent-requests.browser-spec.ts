import { inChromium, usePartnerSite } from '../../support/chromium.js';
import { authorizeLink } from '../../support/oauth-flow.js';

inChromium('prompt=none in a hidden frame', {}, (chrome) => {
  const { app } = chrome;
  /** The URL of the frame of the partner's page. */
  let link = '';
  const site = usePartnerSite(({ url = '/' }, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    // Like oidc-client-ts, the callback reports its URL to the page.
    const body =
      url === '/'
        ? `<script>addEventListener('message', ({ data }) => { document.title = data; });</script>
<iframe hidden src="${link.replaceAll('&', '&amp;')}"></iframe>`
        : '<script>parent.postMessage(location.search, location.origin);</script>';
    response.end(
      `<!doctype html><title>Partner</title><link rel="icon" href="data:,"><body>${body}`,
    );
  });

  it.each([
    ['interaction_required', {}],
    ['invalid_scope', { scope: 'openid' }],
  ])('O41 returns %s to the app at once', async (error, parameters) => {
    const redirectUris = [`${site()}/callback`];
    const client = await app().addClient({ kind: 'public', redirectUris });
    const path = authorizeLink(client, { prompt: 'none', ...parameters });
    // Another host name, so that the sites differ.
    link = new URL(path, app().baseUrl.replace('127.0.0.1', 'localhost')).href;
    const page = await chrome.newPage();
    await page.goto(`${site()}/`);
    await page.waitForFunction("document.title.startsWith('?')");
    expect(new URLSearchParams(await page.title()).get('error')).toBe(error);
    expect(chrome.consoleErrors).toEqual([]);
  });
});
