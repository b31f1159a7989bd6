import { readFile } from 'node:fs/promises';
import { EXAMPLE_ORIGIN } from '../../src/platform/http/developer-api.js';
import { PAGES, renderGuide } from '../../tools/guide.js';
import { onSqlite } from '../support/database.js';
import { operationEntries, publishedDocument } from '../support/published-document.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const OVERVIEW = '/docs/guide';
const slugs = PAGES.map(({ slug }) => slug);
const pathOf = (slug: string): string => (slug === 'README' ? OVERVIEW : `${OVERVIEW}/${slug}`);

/** Words that a person reads in three minutes, without code and tables to look things up in. */
const THREE_MINUTES = 750;
/** Pages that a person looks something up in. */
const REFERENCES = ['changelog', 'libraries', 'typescript-client'];

/** Another test checks the targets. */
const withoutTargets = (markdown: string): string => markdown.replaceAll(/\]\([^)]*\)/g, ']()');

describe('Pages of the guide', () => {
  it.each(PAGES.filter(({ slug }) => !REFERENCES.includes(slug)))(
    '$slug reads in less than three minutes',
    async ({ file }) => {
      const text = await readFile(file, 'utf8');
      const prose = text.replaceAll(/^```.*?^```$/gms, '').replaceAll(/\]\([^)]*\)|^\|.*$/gm, '');
      expect(prose.match(/[\p{L}\p{N}]+/gu)?.length).toBeLessThan(THREE_MINUTES);
    },
  );

  it('show consecutive examples as tabs, and keep other code blocks', async () => {
    const pages = await renderGuide();
    const lists = pages.find(({ slug }) => slug === 'lists')?.html ?? '';
    expect(lists.match(/<fieldset class="tabs">/g)).toHaveLength(1);
    const labels = [...lists.matchAll(/<label for="[\w-]+">(.*?)<\/label>/g)].map(
      ([, text]) => text,
    );
    expect(labels).toEqual(['curl', 'TypeScript', 'Python', 'PHP', 'Go', 'Ruby']);
    expect(lists.match(/ checked>/g)).toHaveLength(1);
    const recipes = pages.find(({ slug }) => slug === 'recipes')?.html;
    expect(recipes).not.toContain('class="tabs"');
    expect(recipes).toContain('<div class="sample"><pre><code>');
  });

  it('list each endpoint of the API with its scope and the method of the client', async () => {
    const page = await readFile('docs/guide/calling-the-api.md', 'utf8');
    const rows = [...page.matchAll(/^\| `([A-Z]+) (\/\S+)`\s+\| (\S+)\s+\| `(\w+)`/gm)];
    const listed = rows.map(([, method = '', path = '', scope = '', operation]) => [
      `${method} ${path}`,
      scope.replaceAll('`', ''),
      operation,
    ]);
    const expected = operationEntries(publishedDocument())
      .filter(({ path }) => path.startsWith('/dev/v1/'))
      .map(({ method, path, operation: { operationId, security = [] } }) => [
        `${method.toUpperCase()} ${path}`,
        security.flatMap((one) => Object.values(one)).flat()[0] ?? 'any',
        operationId,
      ]);
    expect(listed.toSorted()).toEqual(expected.toSorted());
  });

  it('name each field of posts and comments', async () => {
    const page = await readFile('docs/guide/calling-the-api.md', 'utf8');
    const { schemas } = publishedDocument().components;
    for (const name of ['CreatePost', 'Post', 'PostItem', 'CreateComment', 'Comment', 'Author'])
      for (const field of Object.keys(schemas[name]?.properties ?? {}))
        expect(page, name).toContain(`\`${field}\``);
  });

  it('contain each line of the changelog', async () => {
    const changelog = (await renderGuide()).find(({ slug }) => slug === 'changelog');
    const lines = (await readFile('CHANGELOG.md', 'utf8')).match(/^- /gm);
    expect(changelog?.html.match(/<li>/g)).toHaveLength(lines?.length ?? 0);
  });
});

onSqlite('Guide', (database) => {
  const app = useTestApp(database);

  async function html(path: string): Promise<string> {
    const response = await app().fetch(path);
    expect({ path, status: response.status }).toEqual({ path, status: 200 });
    return response.text();
  }

  it.each(slugs)('shows %s as a page without inline scripts and styles', async (slug) => {
    const response = await app().fetch(pathOf(slug));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-language')).toBe('en');
    const policy = response.headers.get('content-security-policy');
    expect(policy).toContain("script-src 'self'; form-action 'self'");
    expect(policy).not.toContain('unsafe');
    const text = await response.text();
    expect(text).not.toMatch(/ style=| on\w+="|<script>|<style/);
    expect(text).toContain(`<a href="${pathOf(slug)}" aria-current="page">`);
  });

  it('serves the Markdown of each page unchanged, except the targets of links and the origin of the service', async () => {
    for (const { slug, file } of PAGES) {
      const response = await app().fetch(`${OVERVIEW}/${slug}.md`);
      expect({ slug, status: response.status }).toEqual({ slug, status: 200 });
      expect(response.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
      const source = (await readFile(file, 'utf8')).replaceAll(
        EXAMPLE_ORIGIN,
        app().config.publicUrl,
      );
      expect(withoutTargets(await response.text())).toBe(withoutTargets(source));
    }
  });

  it('serves the releases as an Atom feed, newest first, without the unreleased changes', async () => {
    const response = await app().fetch('/docs/changelog.atom');
    expect(response.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8');
    const feed = await response.text();
    const textsOf = (name: string): (string | undefined)[] =>
      [...feed.matchAll(new RegExp(`<${name}[^>]*>(.*?)</${name}>`, 'gs'))].map(([, text]) => text);
    const changelog = await readFile('CHANGELOG.md', 'utf8');
    const releases = [...changelog.matchAll(/^## ([\d.]+) – (\S+)$/gm)];
    expect(releases.length).toBeGreaterThan(1);
    const titles = releases.map(([, version]) => `Developer API ${version}`);
    expect(textsOf('title').slice(1)).toEqual(titles);
    const days = releases.map(([, , day]) => `${day}T00:00:00Z`);
    expect(textsOf('updated')).toEqual([days[0], ...days]);
    expect(textsOf('content').at(-1)).toContain('&lt;code&gt;S256&lt;/code&gt;');
    const page = await html(`${OVERVIEW}/changelog`);
    for (const id of textsOf('id').slice(1))
      expect(page).toContain(`id="${new URL(id ?? '').hash.slice(1)}"`);
  });

  it('links only to existing pages and anchors of this service, in HTML and Markdown', async () => {
    const pages = new Map<string, string>();
    const problems: string[] = [];
    for (const slug of slugs) {
      const path = pathOf(slug);
      const markdownPath = `${OVERVIEW}/${slug}.md`;
      const inHtml = [...(await html(path)).matchAll(/<a [^>]*href="([^"]*)"/g)];
      const markdown = await (await app().fetch(markdownPath)).text();
      const inMarkdown = [...markdown.matchAll(/\]\(([^)\s]+)\)/g)].filter(
        ([, link]) => !link?.startsWith('#'),
      );
      expect(inHtml.length).toBeGreaterThan(slugs.length);
      for (const [base, links] of [
        [path, inHtml],
        [markdownPath, inMarkdown],
      ] as const)
        for (const [, link = ''] of links) {
          const url = new URL(link, app().baseUrl + base);
          if (url.origin !== new URL(app().baseUrl).origin) {
            if (url.protocol !== 'https:') problems.push(`${base}: ${link}`);
            continue;
          }
          const target = pages.get(url.pathname) ?? (await html(url.pathname));
          pages.set(url.pathname, target);
          const id = url.hash.slice(1);
          if (id !== '' && !url.pathname.endsWith('.md') && !target.includes(`id="${id}"`))
            problems.push(`${base}: ${link}`);
        }
    }
    expect(problems).toEqual([]);
  });

  it('links each served path that the text names', async () => {
    expect(await html(OVERVIEW)).toContain('<a href="/docs/errors"><code>/docs/errors</code></a>');
  });

  it.each(['postman', 'postman-environment'])(
    'serves docs/%s.json with the addresses of this service',
    async (name) => {
      const text = await (await app().fetch(`/docs/${name}.json`)).text();
      expect(text).toContain(`"${app().baseUrl}"`);
      expect(text).not.toContain('.invalid');
    },
  );

  it('has a random state in the Postman collection, and registers its callback only for a test app', async () => {
    const { auth, info } = await json<{
      auth: { oauth2: { key: string; value: string }[] };
      info: { description: string };
    }>(await app().fetch('/docs/postman.json'));
    // Postman replaces this variable by a new UUID.
    expect(auth.oauth2).toContainEqual({ key: 'state', value: '{{$guid}}' });
    expect(info.description).toMatch(/oauth\.pstmn\.io\S*, only for a test app/);
  });

  it('redirects the address of the former guide to the overview in Markdown', async () => {
    const response = await app().fetch('/docs/integrate.md', { redirect: 'manual' });
    expect(response.status).toBe(301);
    expect(response.headers.get('location')).toBe('/docs/guide/README.md');
  });

  it.each(['/docs/guide/unknown', '/docs/guide/unknown.md', '/docs/guide/README', '/docs/guider'])(
    'returns 404 for %s',
    async (path) => {
      expect((await app().fetch(path)).status).toBe(404);
    },
  );

  it('is linked from the landing page, the error codes and the OpenAPI document', async () => {
    for (const path of ['/', '/docs/errors'])
      expect(await html(path)).toContain(`href="${OVERVIEW}"`);
    const { externalDocs, info } = await json<{
      externalDocs: { url: string };
      info: { description: string };
    }>(await app().fetch('/openapi.json'));
    expect(externalDocs.url).toContain(OVERVIEW);
    expect(info.description).toContain(`](${app().baseUrl}${OVERVIEW})`);
  });

  it('is listed in /llms.txt with existing links', async () => {
    const response = await app().fetch('/llms.txt');
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const text = await response.text();
    expect(text).toMatch(/^# Developer API\n\n> /);
    const links = [...text.matchAll(/\]\((.*?)\)/g)].map(([, link = '']) => new URL(link).pathname);
    expect(links).toEqual(expect.arrayContaining(slugs.map((slug) => `${OVERVIEW}/${slug}.md`)));
    for (const path of links) await html(path);
  });
});
