import { readFile } from 'node:fs/promises';
import { onSqlite } from '../../support/database.js';
import { json } from '../../support/responses.js';
import { startProcess } from '../../support/service-process.js';
import { useTestApp } from '../../support/test-app.js';

const GUIDE = '/docs/integrate.md';

async function expectGuide(answer: Response): Promise<string> {
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
  const text = await answer.text();
  expect(text).toBe(await readFile('docs/integrate.md', 'utf8'));
  return text;
}

onSqlite('The guide for partners', (database) => {
  const app = useTestApp(database);

  it('is served as the file that it is', async () => {
    await expectGuide(await app().fetch(GUIDE));
  });

  it('is linked from the front page, the error codes and the OpenAPI document', async () => {
    for (const path of ['/', '/docs/errors'])
      expect(await (await app().fetch(path)).text()).toContain(`href="${GUIDE}"`);
    const { externalDocs, info } = await json<{
      externalDocs: { url: string };
      info: { description: string };
    }>(await app().fetch('/openapi.json'));
    expect(externalDocs.url).toBe(GUIDE);
    expect(info.description).toContain(`](${GUIDE})`);
  });

  it('leads nowhere that somebody with only this address cannot reach', async () => {
    const text = await expectGuide(await app().fetch(GUIDE));
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(3);
    expect(links.filter((link) => !/^(https:\/\/|#)/.test(link))).toEqual([]);
    for (const [, path = ''] of text.matchAll(/at `(\/[a-z][\w./-]*)`/g))
      expect({ path, status: (await app().fetch(path)).status }).toEqual({ path, status: 200 });
  });
});

onSqlite('The guide in the build', (database) => {
  it('is there', async () => {
    const service = await startProcess({ url: database.url });
    try {
      await expectGuide(await fetch(`${service.baseUrl}${GUIDE}`));
    } finally {
      await service.stop();
    }
  });
});
