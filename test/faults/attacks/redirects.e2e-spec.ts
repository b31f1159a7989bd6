import { SCOPES } from '../../../src/platform/access/scopes.js';
import { Browser } from '../../support/browser.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { onSqlite } from '../../support/database.js';
import { expectPage } from '../../support/responses.js';
import { DECISION } from '../../support/sign-in.js';
import { useTestApp } from '../../support/test-app.js';
import { sendRaw, requestOf } from './send-raw.js';

const EVIL = 'https://evil.example';

onSqlite('Redirects (RFC 9700 §4.1, §4.11)', (database) => {
  const app = useTestApp(database);

  it.each<Record<string, string>>([
    { client_id: 'svc_app_01h455vb4pex5vsknk084sn02q' },
    { scope: 'nothing' },
    { prompt: 'none' },
    { response_type: 'token' },
  ])('do not follow an unregistered redirect_uri in a request with %j', async (parameters) => {
    const link = authorizeLink(await app().addClient(), { redirect_uri: EVIL, ...parameters });
    const page = await new Browser(app()).open(link);
    expectPage(page, 400);
    expect(page.html).not.toContain('evil');
  });

  it('do not follow a redirect URI or client id in the decision form', async () => {
    const client = await app().addClient();
    const { clientId: client_id } = await app().addClient({ kind: 'public' });
    const visitor = new Browser(app());
    const consent = await visitor.signIn(authorizeLink(client), await app().addUser());
    const allow = { scope: [...SCOPES], decision: 'approve' };
    const forged = { ...allow, redirect_uri: EVIL, redirectUri: EVIL, client_id };
    const { location } = await visitor.submit(consent, DECISION, forged);
    expect(location).toMatch(/^https:\/\/garden\.example\/callback\?code=svcac_/);
  });

  it.each([
    '//evil.example',
    '/\\evil.example',
    '/docs//evil.example',
    '/.//evil.example',
    '/account//evil.example',
    '/account/..//evil.example',
    '/account?next=//evil.example',
  ])('do not follow the path %s', async (path) => {
    const request = requestOf(`GET ${path}`, ['Connection: close']);
    const { text, statuses } = await sendRaw(app().baseUrl, request);
    expect(statuses).toHaveLength(1);
    expect(text).not.toMatch(/^location: (?!\/account\/apps\r$)/im);
  });

  it.each([EVIL, '//evil.example', 'svc_app_1@evil.example'])(
    'do not follow "next" of a sign-out: %s',
    async (next) => {
      const visitor = new Browser(app());
      const page = await visitor.signInToAccount(await app().addUser());
      const out = await visitor.submit(page, '/account/sign-out', { next }, { follow: false });
      expect([out.status, out.location]).toEqual([303, '/account/apps']);
    },
  );
});
