import { rolldown } from 'rolldown';
import { inChromium, usePartnerSite, waitForAllow } from '../../support/chromium.js';

/** A page of a partner without a server side. It keeps the pending request in its session storage while the user is away. */
const PAGE = `<!doctype html><title>Garden Share</title>
<button id="connect">Connect</button><p id="result"></p>
<script type="module">
  import { createClient, finishAuthorization, memoryStore, startAuthorization } from '/client.js';
  const settings = JSON.parse(sessionStorage.settings ?? 'null');
  const show = (text) => { document.querySelector('#result').textContent = text; };
  document.querySelector('#connect').addEventListener('click', async () => {
    const { url, pending } = await startAuthorization(settings, { scope: 'profile.read posts.read posts.write' });
    sessionStorage.pending = JSON.stringify(pending);
    location.assign(url);
  });
  if (location.search !== '') {
    try {
      const pending = JSON.parse(sessionStorage.pending);
      const tokens = await finishAuthorization(settings, location.href, pending);
      const client = createClient(settings, memoryStore(tokens));
      const me = await client.getMe();
      for (const content of ['Plums', 'Ladder']) await client.createPost({ body: { content } });
      const contents = [];
      for await (const post of client.listPosts({ limit: 1 })) contents.push(post.content);
      const error = await client.getPost({ id: 'post_none' }).catch(({ name, code }) => name + ' ' + code);
      // The clock of the test stands still, so that both posts have the same time and no certain order.
      show([me.name, ...contents.toSorted(), error].join(', '));
    } catch (error) {
      show(String(error));
    }
  }
</script>`;

inChromium('TypeScript client in a page of another origin', {}, (chrome) => {
  let script: string;
  const origin = usePartnerSite(({ url = '' }, response) => {
    const isScript = url === '/client.js';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : PAGE);
  });

  beforeAll(async () => {
    const build = await rolldown({
      input: 'clients/typescript/src/index.ts',
      platform: 'browser',
      logLevel: 'warn',
    });
    const { output } = await build.generate({ format: 'es' });
    await build.close();
    script = output[0].code;
  });

  it('completes the flow, publishes, iterates a list and reports an error', async () => {
    const redirectUri = `${origin()}/`;
    const client = await chrome.app().addClient({ kind: 'public', redirectUris: [redirectUri] });
    const user = await chrome.app().addUser({ name: 'Ana Lee' });
    const page = await chrome.newPage();
    await page.goto(redirectUri);
    const settings = { issuer: chrome.app().baseUrl, clientId: client.clientId, redirectUri };
    await page.evaluate(`sessionStorage.settings = ${JSON.stringify(JSON.stringify(settings))}`);
    await page.reload();
    await page.locator('#connect').click();
    await chrome.signIn(page, user);
    await waitForAllow(page);
    await page.locator('[value=approve]').click();
    await page.waitForURL(`${origin()}/?**`);
    const result = page.locator('#result');
    await expect
      .poll(() => result.textContent())
      .toBe('Ana Lee, Ladder, Plums, ApiError not_found');
    // Only the last request failed.
    expect(chrome.consoleErrors).toHaveLength(1);
  });
});
