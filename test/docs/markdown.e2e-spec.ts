import { OAUTH_ERRORS } from '../../src/modules/oauth/protocol/oauth.errors.js';
import { PAGE_ERRORS } from '../../src/pages/page-errors.js';
import { API_ERRORS, FIELD_ERRORS } from '../../src/platform/errors.js';
import { EXAMPLE_ORIGIN } from '../../src/platform/http/developer-api.js';
import { PAGES } from '../../tools/guide.js';
import { onSqlite } from '../support/database.js';
import { operationEntries, publishedDocument } from '../support/published-document.js';
import { useTestApp } from '../support/test-app.js';

/** Pages with their Markdown. */
const VERSIONS: [page: string, markdown: string][] = [
  ['/docs', '/docs/api.md'],
  ['/docs/errors', '/docs/errors.md'],
  ['/docs/guide', '/docs/guide/README.md'],
  ...PAGES.filter(({ slug }) => slug !== 'README').map(({ slug }): [string, string] => [
    `/docs/guide/${slug}`,
    `/docs/guide/${slug}.md`,
  ]),
];

onSqlite('Documentation as Markdown', (database) => {
  const app = useTestApp(database);

  async function markdownOf(path: string, accept = '*/*'): Promise<string> {
    const response = await app().fetch(path, { headers: { accept } });
    expect([path, response.status, response.headers.get('content-type')]).toEqual([
      path,
      200,
      'text/markdown; charset=utf-8',
    ]);
    return response.text();
  }

  it('has every operation, parameter, field and status of the OpenAPI document', async () => {
    const reference = await markdownOf('/docs/api.md');
    const document = publishedDocument();
    const sections = new Map(
      reference.split('\n### ').map((section) => [section.split('\n')[0], section]),
    );
    for (const { method, path, operation } of operationEntries(document)) {
      const section = sections.get(operation.summary);
      expect(section).toContain(`\`${method.toUpperCase()} ${path}\``);
      expect(section).toContain(operation.description);
      const form = Object.values(operation.requestBody?.content ?? {})[0]?.schema.properties ?? {};
      const names = [...(operation.parameters ?? []).map(({ name }) => name), ...Object.keys(form)];
      for (const name of names) expect(section).toContain(`\n- \`${name}\` (`);
      for (const status of Object.keys(operation.responses))
        expect(section).toContain(`\n- **${status}** `);
    }
    for (const [name, { properties = {} }] of Object.entries(document.components.schemas))
      for (const field of Object.keys(properties))
        expect(sections.get(name)).toContain(`- \`${field}\` (`);
  });

  it('has every event with its fields', async () => {
    const reference = await markdownOf('/docs/api.md');
    const sections = reference.split('\n### ');
    for (const [type, { post }] of Object.entries(publishedDocument().webhooks)) {
      const section = sections.find((text) => text.startsWith(`${post.summary}\n`));
      expect(section).toContain(`The service sends the event \`${type}\``);
      for (const name of ['id', 'type', 'timestamp', 'data', 'webhook-signature'])
        expect(section).toContain(`\n- \`${name}\` (`);
    }
  });

  it('links in the reference only to its own headings and to this service', async () => {
    const reference = await markdownOf('/docs/api.md');
    const headings = [...reference.matchAll(/^#+ (.+)$/gm)].map(([, text]) => text?.toLowerCase());
    for (const [, link = ''] of reference.matchAll(/\]\(([^)]+)\)/g))
      if (link.startsWith('#')) expect(headings).toContain(link.slice(1));
      else expect((await fetch(link)).status).toBe(200);
    expect(reference).not.toMatch(/undefined|\[object/);
  });

  it('has each error code with its remedy', async () => {
    const text = await markdownOf('/docs/errors.md');
    expect(text).toMatch(/^# Error codes\n/);
    for (const code of [...Object.keys(API_ERRORS), ...Object.keys(OAUTH_ERRORS)])
      expect(text).toContain(`\n### \`${code}\` `);
    for (const code of [...Object.keys(FIELD_ERRORS), ...Object.keys(PAGE_ERRORS)])
      expect(text).toMatch(new RegExp(`^\\| (\`${code}\`|${code}) \\| .{10,} \\|$`, 'm'));
    expect(text).toContain(OAUTH_ERRORS.invalid_client.remedy.replaceAll(/<\/?code>/g, '`'));
    expect(text).not.toMatch(/(?<!\\)<[a-z/]|&(lt|gt|amp|quot);/);
    const [, example = ''] = /```json\n(.*?)\n```/s.exec(text) ?? [];
    expect(JSON.parse(example)).toMatchObject({ error: 'invalid_request' });
  });

  it.each(VERSIONS)(
    'returns the Markdown of %s to clients that prefer it',
    async (page, markdown) => {
      const expected = await markdownOf(markdown);
      for (const accept of ['text/markdown', 'text/markdown, */*', 'text/html;q=0.9,text/markdown'])
        expect(await markdownOf(page, accept)).toBe(expected);
      for (const accept of ['*/*', 'text/html,*/*;q=0.8', 'text/markdown;q=0.5,text/html']) {
        const response = await app().fetch(page, { headers: { accept } });
        expect(response.headers.get('content-type')).toMatch(/^text\/html/);
        expect(response.headers.get('vary')).toMatch(/\bAccept(,|$)/);
        expect(await response.text()).toContain(
          `<link rel="alternate" type="text/markdown" href="${markdown}">`,
        );
      }
    },
  );

  it.each(VERSIONS)(
    'never has the Markdown at %s stored by a cache that ignores Vary',
    async (page, markdown) => {
      const get = (path: string, headers: Record<string, string>): Promise<Response> =>
        app().fetch(path, { headers });
      const negotiated = await get(page, { accept: 'text/markdown' });
      expect(negotiated.headers.get('cache-control')).toBe('no-cache');
      // Such a cache asks with the entity tag of the Markdown when a browser wants the page.
      const etag = negotiated.headers.get('etag') ?? '';
      const condition = { 'if-none-match': etag };
      expect((await get(page, { accept: 'text/html', ...condition })).status).toBe(200);
      const repeated = await get(page, { accept: 'text/markdown', ...condition });
      expect([repeated.status, repeated.headers.get('etag')]).toEqual([304, etag]);
      expect(repeated.headers.get('vary')).toMatch(/\bAccept(,|$)/);
      const direct = await get(markdown, { accept: 'text/html' });
      expect(direct.headers.get('vary') ?? '').not.toMatch(/\bAccept(,|$)/);
    },
  );

  it('returns 404 for an unknown page, and HTML for pages that are not documentation', async () => {
    const headers = { accept: 'text/markdown' };
    for (const path of ['/docs/nope', '/docs/guide/nope', '/docs/guide/README'])
      expect((await app().fetch(path, { headers })).status).toBe(404);
    const landing = await app().fetch('/', { headers });
    expect(landing.headers.get('content-type')).toMatch(/^text\/html/);
  });

  it('has the origin of the service in each document and page', async () => {
    const others = ['/', '/llms.txt', '/openapi.json', '/docs/swagger-ui-init.js'];
    const files = ['/docs/postman.json', '/docs/postman-environment.json', '/docs/changelog.atom'];
    for (const path of [...VERSIONS.flat(), ...others, ...files]) {
      const text = await (await app().fetch(path)).text();
      expect(text.length, path).toBeGreaterThan(100);
      for (const origin of [EXAMPLE_ORIGIN, 'localhost:3000', 'instance.invalid'])
        expect(text.includes(origin), `${path}: ${origin}`).toBe(false);
    }
  });

  it('is listed in /llms.txt', async () => {
    const list = await (await app().fetch('/llms.txt')).text();
    for (const path of ['/docs/api.md', '/docs/errors.md'])
      expect(list).toContain(`](${app().baseUrl}${path})`);
  });
});

onSqlite('Reference of a service whose posts are on another site', (database) => {
  const app = useTestApp(database, { SITE_URL: 'https://neighbours.example' });

  it('has the addresses of that site in examples of permalinks', async () => {
    for (const path of ['/openapi.json', '/docs/api.md'])
      expect(await (await app().fetch(path)).text()).toContain(
        '"https://neighbours.example/post/post_',
      );
  });
});
