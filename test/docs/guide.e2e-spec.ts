import { readFile } from 'node:fs/promises';
import { onSqlite } from '../support/database.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const GUIDE = '/docs/integrate.md';
/** Paths that the guide mentions as "at `/path`". */
const PATHS_IN_TEXT = /at `(\/[a-z][\w./-]*)`/g;

async function expectGuide(response: Response): Promise<string> {
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
  const text = await response.text();
  expect(text).toBe(await readFile('docs/integrate.md', 'utf8'));
  return text;
}

onSqlite('Integration guide', (database) => {
  const app = useTestApp(database);

  it('is served unchanged', async () => {
    await expectGuide(await app().fetch(GUIDE));
  });

  it('is linked from the landing page, the error codes and the OpenAPI document', async () => {
    for (const path of ['/', '/docs/errors'])
      expect(await (await app().fetch(path)).text()).toContain(`href="${GUIDE}"`);
    const { externalDocs, info } = await json<{
      externalDocs: { url: string };
      info: { description: string };
    }>(await app().fetch('/openapi.json'));
    expect(externalDocs.url).toBe(GUIDE);
    expect(info.description).toContain(`](${GUIDE})`);
  });

  it('links only to addresses that a partner can reach', async () => {
    const text = await expectGuide(await app().fetch(GUIDE));
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(3);
    expect(links.filter((link) => !/^(https:\/\/|#)/.test(link))).toEqual([]);
    for (const [, path = ''] of text.matchAll(PATHS_IN_TEXT))
      expect({ path, status: (await app().fetch(path)).status }).toEqual({ path, status: 200 });
  });
});
