import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Browser } from '../support/browser.js';
import { onOneEngine } from '../support/database.js';
import { authorizeLink } from '../support/oauth-flow.js';
import { useTestApp } from '../support/test-app.js';
import { SIGN_IN } from '../support/sign-in.js';

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1"/></svg>';

onOneEngine('The identity of the network', (database) => {
  const folder = mkdtempSync(join(tmpdir(), 'platform-brand-'));
  const file = join(folder, 'logo.svg');
  writeFileSync(file, SVG);
  afterAll(() => rmSync(folder, { recursive: true }));
  const app = useTestApp(database, {
    NETWORK_NAME: 'Elm & Oak',
    NETWORK_LOGO: file,
    NETWORK_COLOR: '#7b1fa2',
    PRIVACY_URL: 'https://elm.example/privacy',
    TERMS_URL: 'https://elm.example/terms',
    SUPPORT_URL: 'https://elm.example/help',
    SECURITY_CONTACT: 'security@elm.example',
  });

  it.each(['/', '/docs/errors', '/account/apps', '/unknown'])(
    'shows name, logo and links on %s',
    async (path) => {
      const response = await app().fetch(path, { headers: { accept: 'text/html' } });
      const html = await response.text();
      expect(html).toMatch(/<title>.* – Elm &amp; Oak<\/title>/);
      expect(html).toContain('<span>Elm &amp; Oak</span>');
      expect(html).toContain('<img class="mark" src="/assets/logo" alt=""');
      for (const [url, text] of [
        ['https://elm.example/privacy', 'Privacy'],
        ['https://elm.example/terms', 'Terms'],
        ['https://elm.example/help', 'Help'],
      ])
        expect(html).toContain(`<a href="${url}" rel="noreferrer">${text}</a>`);
      expect(html).not.toContain('Neighbourhood network');
    },
  );

  it('serves the logo with a strict type, without scripts', async () => {
    const response = await app().fetch('/assets/logo');
    expect(await response.text()).toBe(SVG);
    expect(response.headers.get('content-type')).toMatch(/^image\/svg\+xml/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toContain('sandbox');
    const favicon = await app().fetch('/favicon.ico', { redirect: 'manual' });
    expect(favicon.headers.get('location')).toBe('/assets/logo');
  });

  it('uses the colour on light pages, and a lighter one on dark pages', async () => {
    const css = await (await app().fetch('/assets/style.css')).text();
    expect(css).toMatch(
      /:root \{ --accent: #7b1fa2; [^}]*\}\n@media \(prefers-color-scheme: dark\)/,
    );
  });

  it('sends text messages in the name of the network', async () => {
    const user = await app().addUser();
    const visitor = new Browser(app());
    const page = await visitor.open(authorizeLink(await app().addClient()));
    await visitor.submit(page, SIGN_IN, { phone: user.phone });
    const code = await app().sms.password(user.phone);
    expect(app().sms.messages.at(-1)?.text).toContain(`${code} is your Elm & Oak code`);
  });

  it('names the policies in the metadata', async () => {
    const metadataOf = async (name: string): Promise<unknown> =>
      (await app().fetch(`/.well-known/${name}`)).json();
    expect(await metadataOf('oauth-authorization-server')).toMatchObject({
      op_policy_uri: 'https://elm.example/privacy',
      op_tos_uri: 'https://elm.example/terms',
    });
    expect(await metadataOf('oauth-protected-resource/dev/v1')).toMatchObject({
      resource_name: 'Developer API – Elm & Oak',
      resource_policy_uri: 'https://elm.example/privacy',
      resource_tos_uri: 'https://elm.example/terms',
    });
  });

  it('names the contacts for vulnerabilities and for help', async () => {
    const response = await app().fetch('/.well-known/security.txt');
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const [contact, expires, ...others] = (await response.text()).trimEnd().split('\n');
    expect(contact).toBe('Contact: mailto:security@elm.example');
    const days = (Date.parse(expires?.slice('Expires: '.length) ?? '') - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(30);
    expect(days).toBeLessThan(366);
    // The test app has no https address.
    expect(others).toEqual([]);
    const document = await (await app().fetch('/openapi.json')).json();
    expect(document).toMatchObject({ info: { contact: { url: 'https://elm.example/help' } } });
  });

  it('shows name, logo and colour in the documentation', async () => {
    const html = await (await app().fetch('/docs')).text();
    expect(html).toContain('<title>Developer API – Elm &amp; Oak</title>');
    expect(html).toContain('content: "Elm & Oak"');
    expect(html).toContain('background: #7b1fa2');
    expect(html).toContain('/assets/logo');
  });
});
