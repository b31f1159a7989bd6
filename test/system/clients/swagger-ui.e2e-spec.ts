import type { UserWithPhone } from '../../../src/modules/users/users.service.js';
import { inChromium, usePartnerSite } from '../../support/chromium.js';
import { SwaggerUi } from '../../support/swagger-ui.js';
import type { TestClient } from '../../support/test-app.js';
import { statusOfMe } from './decide.js';
import { showApi } from './recipes/swagger-ui.js';

const PAGE = `<!doctype html><title>API</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="/swagger-ui.css"><div id="swagger-ui"></div>
<script src="/swagger-ui-bundle.js"></script>`;

inChromium('Swagger UI on a partner site', {}, (chrome) => {
  const { app } = chrome;
  let user: UserWithPhone;
  let client: TestClient;
  let partner: SwaggerUi;

  /** The partner's server: a page and the files of Swagger UI. */
  const site = usePartnerSite(({ url = '/' }, response) => {
    const forwardFile = async (): Promise<void> => {
      const file = await app().fetch(`/docs${url}`);
      const type = file.headers.get('content-type') ?? 'text/plain';
      response.writeHead(file.status, { 'content-type': type });
      response.end(Buffer.from(await file.arrayBuffer()));
    };
    if (url === '/') response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
    else void forwardFile();
  });

  beforeEach(async () => {
    user = await app().addUser({ name: 'Ana Lee' });
    const redirectUri = `${site()}/oauth2-redirect.html`;
    client = await app().addClient({ kind: 'public', redirectUris: [redirectUri] });
    const page = await chrome.newPage();
    await page.goto(site());
    const document = (await (await app().fetch('/openapi.json')).json()) as object;
    const { clientId } = client;
    await page.evaluate(showApi, { issuer: app().baseUrl, clientId, redirectUri, document });
    partner = new SwaggerUi(chrome, page);
  });

  it('O147 gets a token with PKCE from another origin and calls the API', async () => {
    const { status, body } = await partner.tokens(user);
    expect(status).toBe(200);
    expect(body.scope).toBe('profile.read posts.read');
    await partner.closeDialog();
    const me = await partner.executeGetMe();
    expect(me.status).toBe('200');
    expect(me.body).toContain('"name": "Ana Lee"');
    expect(chrome.consoleErrors).toEqual([]);
  });

  it("O105 O123 does not revoke the token at Logout; scripts of the partner's page can refresh and revoke", async () => {
    const { body: first } = await partner.tokens(user);
    // The accessible name of the button "Logout".
    await partner.dialog.getByRole('button', { name: 'Remove authorization' }).click();
    expect(await statusOfMe(app(), first.access_token ?? '')).toBe(200);
    const { clientId: client_id } = client;
    const second = await partner.post(`${app().baseUrl}/oauth/token`, {
      grant_type: 'refresh_token',
      refresh_token: first.refresh_token ?? '',
      client_id,
    });
    expect(second.status).toBe(200);
    const { access_token = '', refresh_token: token = '' } = second.body;
    expect(await statusOfMe(app(), access_token)).toBe(200);
    const revoked = await partner.post(`${app().baseUrl}/oauth/revoke`, { token, client_id });
    expect(revoked.status).toBe(200);
    expect(await statusOfMe(app(), access_token)).toBe(401);
  });
});
