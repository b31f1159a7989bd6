import { readFile } from 'node:fs/promises';
import { SCOPES } from '../../src/common/scopes.js';
import { ERROR_STATUS } from '../../src/http/error-status.js';
import { onEachEngine } from '../support/engines.js';
import { json, type ErrorBody } from '../support/json.js';
import { useTestApp } from '../support/test-app.js';

interface Schema {
  $ref?: string;
  type?: string | string[];
  required?: string[];
  properties?: Record<string, Schema>;
}

interface Operation {
  operationId: string;
  summary?: string;
  tags?: string[];
  security?: Record<string, string[]>[];
  parameters?: { name: string; in: string; description?: string; schema?: Schema }[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<
    string,
    {
      headers?: Record<string, unknown>;
      content?: Record<
        string,
        { schema?: Schema; examples?: Record<string, { value: ErrorBody }> }
      >;
    }
  >;
}

interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const COMMITTED = new URL('../../openapi/openapi.json', import.meta.url);

/** Operation, its scope, its success and the refusals that its shape calls for. */
const OPERATIONS = [
  ['get', '/dev/v1/me', 'profile.read', '200', []],
  ['post', '/dev/v1/posts', 'posts.write', '201', ['408', '413', '415', '429']],
  ['get', '/dev/v1/posts', 'posts.read', '200', []],
  ['get', '/dev/v1/posts/{id}', 'posts.read', '200', ['404']],
  ['get', '/dev/v1/posts/{id}/analytics', 'analytics.read', '200', ['404']],
  ['delete', '/dev/v1/posts/{id}', 'posts.write', '200', ['404']],
  ['get', '/dev/v1/posts/{id}/comments', 'posts.read', '200', ['404']],
  ['post', '/dev/v1/posts/{id}/comments', 'posts.write', '201', ['404', '408', '413', '415']],
  ['delete', '/dev/v1/comments/{id}', 'posts.write', '200', ['404']],
] as const;

onEachEngine('The published document', (database) => {
  const app = useTestApp(database);
  let document: Document;
  beforeAll(async () => {
    const answer = await app().fetch('/openapi.json');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    document = await json<Document>(answer);
  });

  const operations = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
  const schema = (name: string) => document.components.schemas[name] ?? {};

  it('equals the committed file', async () => {
    const committed = await readFile(COMMITTED, 'utf8').catch(() => undefined);
    if (committed !== undefined) expect(document).toEqual(JSON.parse(committed));
  });

  it('is OpenAPI 3.1 with all nine endpoints of the developer API, and no other', () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    const served = operations().filter(({ path }) => path.startsWith('/dev/'));
    expect(served.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
      OPERATIONS.map(([method, path]) => `${method} ${path}`).toSorted(),
    );
  });

  it('names every operation once, and tells what each does', () => {
    const all = operations().map(({ operation }) => operation);
    expect(new Set(all.map(({ operationId }) => operationId)).size).toBe(all.length);
    for (const { operationId, summary, tags } of all) {
      expect(operationId).toMatch(/^[a-z][A-Za-z]+$/);
      expect(summary, operationId).toMatch(/\S{2,}/);
      expect(tags, operationId).toHaveLength(1);
    }
  });

  it('describes every parameter', () => {
    for (const { operation } of operations())
      for (const { name, description } of operation.parameters ?? [])
        expect(description, `${operation.operationId} ${name}`).toMatch(/\S{2,}/);
  });

  it('refers only to schemas that it has', () => {
    const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)];
    for (const [, name = ''] of references)
      expect(Object.keys(document.components.schemas)).toContain(name);
  });

  describe.each(OPERATIONS)('%s %s', (method, path, scope, success, refusals) => {
    const operation = (): Operation => {
      const found = document.paths[path]?.[method];
      if (!found) throw new Error('There is no such operation.');
      return found;
    };

    it(`needs ${scope}`, () => {
      expect(operation().security).toEqual([{ oauth2: [scope] }]);
      expect(SCOPES).toContain(scope);
    });

    it('has every status that it can answer, and no other', () => {
      const statuses = [success, '400', '401', '403', '500', '503', ...refusals];
      expect(Object.keys(operation().responses).toSorted()).toEqual(statuses.toSorted());
    });

    it('has the schema of its success', () => {
      const { content } = operation().responses[success] ?? {};
      expect(content?.['application/json']?.schema?.$ref).toMatch(/^#\/components\/schemas\//);
    });

    it('has an example of each of its errors, in the one error body', () => {
      for (const [status, response] of Object.entries(operation().responses)) {
        if (status === success) continue;
        const { schema: body, examples = {} } = response.content?.['application/json'] ?? {};
        expect(body).toEqual({ $ref: '#/components/schemas/Error' });
        expect(Object.keys(examples).length).toBeGreaterThan(0);
        for (const [code, { value }] of Object.entries(examples)) {
          expect(ERROR_STATUS).toHaveProperty(code, Number(status));
          expect(value).toMatchObject({ error: code, error_description: expect.any(String) });
          for (const member of schema('Error').required ?? []) expect(value).toHaveProperty(member);
        }
      }
    });

    it('tells the headers of its challenges and waits', () => {
      const headers = (status: string) => Object.keys(operation().responses[status]?.headers ?? {});
      for (const status of ['401', '403']) expect(headers(status)).toContain('WWW-Authenticate');
      for (const status of ['429', '503'].filter((one) => one in operation().responses))
        expect(headers(status)).toContain('Retry-After');
    });
  });

  it('has the bodies that the source document has, as JSON', () => {
    const body = (path: string) => document.paths[path]?.post?.requestBody;
    for (const path of ['/dev/v1/posts', '/dev/v1/posts/{id}/comments'])
      expect(Object.keys(body(path)?.content ?? {})).toEqual(['application/json']);
    expect(Object.keys(schema('CreatePost').properties ?? {})).toEqual([
      ...['title', 'content', 'type', 'images', 'tags'],
      ...['latitude', 'longitude', 'reachKm', 'visibility'],
    ]);
    expect(schema('CreatePost').required).toBeUndefined();
    expect(schema('CreateComment').required).toEqual(['text']);
  });

  it.each([
    ['/dev/v1/posts', 50],
    ['/dev/v1/posts/{id}/comments', 100],
  ])('bounds page and limit of %s', (path, most) => {
    const parameters = document.paths[path]?.get?.parameters ?? [];
    const schemaOf = (name: string) => parameters.find((one) => one.name === name)?.schema;
    expect(schemaOf('page')).toMatchObject({ type: 'integer', minimum: 1, default: 1 });
    expect(schemaOf('limit')).toMatchObject({ minimum: 1, maximum: most, default: 20 });
  });

  it.each([
    ['User', ['id', 'name', 'photoUrl', 'karma', 'neighborhood']],
    ['PostItem', ['id', 'content', 'permalink', 'createdAt']],
    ['Post', ['id', 'content', 'tags', 'reachKm', 'visibility', 'permalink', 'createdAt']],
    ['Comment', ['id', 'text', 'parentId', 'author', 'createdAt', 'permalink']],
    ['Analytics', ['id', 'likes', 'comments', 'publishedAt', 'permalink']],
    ['Deleted', ['id', 'deleted']],
    ['PageMeta', ['page', 'limit', 'total']],
  ])('%s has all of its fields, always', (name, fields) => {
    expect(schema(name).required?.toSorted()).toEqual(fields.toSorted());
    expect(Object.keys(schema(name).properties ?? {}).toSorted()).toEqual(fields.toSorted());
  });

  it('is served for browsing, without a script in the page and with a policy that allows none', async () => {
    const page = await app().fetch('/docs');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(page.headers.get('content-security-policy')).toMatch(/script-src 'self'(;|$)/);
    const html = await page.text();
    const scripts = [...html.matchAll(/<script\b([^>]*)>(.*?)<\/script>/gs)];
    expect(scripts.length).toBeGreaterThan(0);
    for (const [, attributes = '', code = ''] of scripts) {
      expect(code.trim()).toBe('');
      const source = /src="([^"]+)"/.exec(attributes)?.[1] ?? '';
      const { origin, pathname } = new URL(source, page.url);
      expect(origin).toBe(app().baseUrl);
      expect((await app().fetch(pathname)).status).toBe(200);
    }
    expect(html).not.toMatch(/\son\w+="/);
  });
});
