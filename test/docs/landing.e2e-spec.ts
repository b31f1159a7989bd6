import { demoGuide, DemoService } from '../../src/modules/demo/demo.service.js';
import { LANGUAGES } from '../../src/pages/language.js';
import { onSqlite } from '../support/database.js';
import { type TestApp, useTestApp } from '../support/test-app.js';

const PLACES = ['/docs', '/docs/integrate.md', '/docs/errors', '/openapi.json'];

async function landing(app: TestApp, language = 'en'): Promise<string> {
  const headers = { 'accept-language': language };
  return (await app.fetch('/', { headers })).text();
}

onSqlite('The front page', (database) => {
  const app = useTestApp(database, { DEMO: '1' });

  it.each(LANGUAGES)(
    'links in "%s" to what there is to read, all of it there',
    async (language) => {
      const links = [...(await landing(app(), language)).matchAll(/<a [^>]*href="([^"]*)"/g)];
      expect(links.map(([, href]) => href)).toEqual(PLACES);
      for (const place of PLACES) expect((await app().fetch(place)).status).toBe(200);
    },
  );

  it('says in Spanish of each link that it leads to English', async () => {
    const links = (await landing(app(), 'es')).match(/<a [^>]*>.*?<\/a>/g) ?? [];
    expect(links).toHaveLength(PLACES.length);
    for (const link of links) expect(link).toMatch(/hreflang="en">.+ \(en inglés\)<\/a>/);
  });

  it('tells how to run the flow of the demo once that is there, in both languages', async () => {
    for (const language of LANGUAGES)
      expect(await landing(app(), language)).not.toContain(demoGuide.phone);
    await app().service(DemoService).seedIfEmpty();
    for (const language of LANGUAGES) {
      const page = await landing(app(), language);
      expect(page).toContain('Authorize');
      expect(page).toContain(`<span class="phone">${demoGuide.phone}</span>`);
    }
  });
});
