import { ana, DemoService } from '../../src/modules/demo/demo.service.js';
import { AppsService } from '../../src/modules/oauth/clients/apps.service.js';
import { LANGUAGES } from '../../src/pages/language.js';
import { onSqlite } from '../support/database.js';
import { type TestApp, useTestApp } from '../support/test-app.js';

const ENGLISH_PAGES = ['/docs', '/docs/guide', '/docs/errors', '/openapi.json'];
const LINKS = [...ENGLISH_PAGES, '/account/apps'];

async function landing(app: TestApp, language = 'en'): Promise<string> {
  const headers = { 'accept-language': language };
  return (await app.fetch('/', { headers })).text();
}

onSqlite('Landing page', (database) => {
  const app = useTestApp(database, { DEMO: '1' });

  it.each(LANGUAGES)('links in "%s" to the existing documentation', async (language) => {
    const links = [...(await landing(app(), language)).matchAll(/<a [^>]*href="([^"]*)"/g)];
    expect(links.map(([, href]) => href)).toEqual(LINKS);
    for (const path of LINKS) expect((await app().fetch(path)).status).toBe(200);
  });

  it('marks each link to an English page on the Spanish page', async () => {
    const links = (await landing(app(), 'es')).match(/<a [^>]*>.*?<\/a>/g) ?? [];
    expect(links.pop()).toContain('href="/account/apps">Vea las aplicaciones');
    expect(links).toHaveLength(ENGLISH_PAGES.length);
    for (const link of links) expect(link).toMatch(/hreflang="en">.+ \(en inglés\)<\/a>/);
  });

  it('explains the demo flow in each language once the demo is seeded', async () => {
    for (const language of LANGUAGES)
      expect(await landing(app(), language)).not.toContain(ana.phone);
    await app().service(DemoService).seedIfNeeded();
    for (const language of LANGUAGES) {
      const page = await landing(app(), language);
      expect(page).toContain('Authorize');
      expect(page).toContain(`<span class="phone">${ana.phone}</span>`);
    }
  });

  it('does not mention Authorize without an app for the documentation', async () => {
    await app().service(DemoService).seedIfNeeded();
    const apps = app().service(AppsService);
    const { clientId = '' } = (await apps.findDocsApp()) ?? {};
    await apps.changeStatus(clientId, 'disabled', { actor: 'test' });
    for (const language of LANGUAGES) {
      const page = await landing(app(), language);
      expect(page).toContain('id="demo-title"');
      expect(page).not.toContain('Authorize');
    }
  });
});
