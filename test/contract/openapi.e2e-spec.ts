import { readFile } from 'node:fs/promises';
import { SCOPES } from '../../src/platform/access/scopes.js';
import { EXAMPLE_ORIGIN } from '../../src/platform/http/developer-api.js';
import { onOneEngine } from '../support/database.js';
import {
  dereferenced,
  type OpenApiDocument,
  type Operation,
  operationEntries,
  type Schema,
  schemaChecks,
  withoutOrigin,
} from '../support/published-document.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const COMMITTED = new URL('../../openapi/openapi.json', import.meta.url);

/** Method, path, required scope (`any` for any token), success status, and error statuses besides the common ones. */
const OPERATIONS = [
  ['get', '/dev/v1/me', 'profile.read', '200', []],
  ['post', '/dev/v1/posts', 'posts.write', '201', ['408', '409', '413', '415', '422', '429']],
  ['get', '/dev/v1/posts', 'posts.read', '200', []],
  ['get', '/dev/v1/posts/{id}', 'posts.read', '200', ['404']],
  ['get', '/dev/v1/posts/{id}/analytics', 'analytics.read', '200', ['404']],
  ['delete', '/dev/v1/posts/{id}', 'posts.write', '200', ['404', '429']],
  ['get', '/dev/v1/posts/{id}/comments', 'posts.read', '200', ['404']],
  [
    'post',
    '/dev/v1/posts/{id}/comments',
    'posts.write',
    '201',
    ['404', '408', '409', '413', '415', '422', '429'],
  ],
  ['delete', '/dev/v1/comments/{id}', 'posts.write', '200', ['404', '429']],
  ['get', '/dev/v1/quota', 'any', '200', []],
  ['get', '/dev/v1/requests', 'any', '200', []],
  ['get', '/dev/v1/requests/{id}', 'any', '200', ['404']],
] as const;

onOneEngine('OpenAPI document', (database) => {
  const app = useTestApp(database);
  let served: OpenApiDocument;
  let document: OpenApiDocument;
  beforeAll(async () => {
    const response = await app().fetch('/openapi.json');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    served = await json<OpenApiDocument>(response);
    document = dereferenced(served);
  });

  it('has no x- extensions, which break code generators', () => {
    expect(JSON.stringify(served)).not.toMatch(/"x-[^"]*":/);
  });

  it('has the version of the package', async () => {
    const manifest = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
    expect(served.info.version).toBe(manifest.version);
  });

  const operations = () => operationEntries(document);
  const schema = (name: string) => document.components.schemas[name] ?? {};

  it('C139 equals the committed file, with the origin of the service in its URLs', async () => {
    const committed = JSON.parse(await readFile(COMMITTED, 'utf8')) as OpenApiDocument;
    const origin = app().baseUrl;
    expect(committed.servers).toEqual([{ url: '/' }]);
    expect(served.servers).toEqual([{ url: origin }]);
    expect(served.externalDocs?.url).toBe(`${origin}/docs/guide`);
    expect(withoutOrigin(served, origin)).toEqual(withoutOrigin(committed, EXAMPLE_ORIGIN));
  });

  it('C139 has absolute URLs of the OAuth flow and of the pages in its description', () => {
    const origin = app().baseUrl;
    expect(served.components.securitySchemes['oauth2']?.flows?.['authorizationCode']).toMatchObject(
      {
        authorizationUrl: `${origin}/oauth/authorize`,
        tokenUrl: `${origin}/oauth/token`,
        refreshUrl: `${origin}/oauth/token`,
      },
    );
    const links = [...JSON.stringify(served).matchAll(/\]\(([^)]+)\)/g)].map(([, url]) => url);
    expect(links).toEqual([`${origin}/docs/guide`, `${origin}/docs/errors`]);
  });

  it('C139 is OpenAPI 3.1 and contains exactly the nine endpoints of the product requirements and the quota', () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    const endpoints = operations().filter(({ path }) => path.startsWith('/dev/'));
    expect(endpoints.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
      OPERATIONS.map(([method, path]) => `${method} ${path}`).toSorted(),
    );
  });

  it('has no example of an optional parameter, which Swagger UI would prefill and send', () => {
    const prefilled = operations().flatMap(({ operation: { operationId, parameters = [] } }) =>
      parameters
        .filter(({ required }) => !required)
        .filter((parameter) => /"examples?":/.test(JSON.stringify(parameter)))
        .map(({ name }) => `${operationId} ${name}`),
    );
    expect(prefilled).toEqual([]);
  });

  it('C139 contains only valid examples', () => {
    const checkOf = schemaChecks(document, { allowUnknown: false });
    const problems = examplesOf(document).flatMap(({ path, schema: exampleSchema, value }) =>
      checkOf(exampleSchema)(value).map((problem) => `${path}: ${problem}`),
    );
    expect(problems).toEqual([]);
    expect(examplesOf(document).length).toBeGreaterThan(100);
  });

  describe.each(OPERATIONS)('%s %s', (method, path, scope, success, errors) => {
    const operation = (): Operation => {
      const found = document.paths[path]?.[method];
      if (!found) throw new Error('There is no such operation.');
      return found;
    };

    it(scope === 'any' ? 'requires a token with any scope' : `requires the scope ${scope}`, () => {
      const scopes = scope === 'any' ? [] : [scope];
      expect(operation().security).toEqual([{ oauth2: scopes }]);
      expect(SCOPES).toEqual(expect.arrayContaining(scopes));
    });

    it('C139 declares exactly the expected statuses', () => {
      const unchanged = method === 'get' ? ['304'] : [];
      const faults = ['400', '401', '500', '503'];
      const denied = scope === 'any' ? [] : ['403'];
      const statuses = [success, ...unchanged, ...faults, ...denied, ...errors];
      expect(Object.keys(operation().responses).toSorted()).toEqual(statuses.toSorted());
    });

    it('declares the headers of every response, including WWW-Authenticate and Retry-After', () => {
      const headers = (status: string) => Object.keys(operation().responses[status]?.headers ?? {});
      for (const status of Object.keys(operation().responses))
        expect(headers(status)).toEqual(expect.arrayContaining(['X-Request-Id', 'Cache-Control']));
      const declared = (...some: string[]) => some.filter((one) => one in operation().responses);
      for (const status of declared('401', '403'))
        expect(headers(status)).toContain('WWW-Authenticate');
      for (const status of declared('409', '429', '503'))
        expect(headers(status)).toContain('Retry-After');
    });
  });

  it('declares the JSON request bodies of the product requirements', () => {
    const body = (path: string) => document.paths[path]?.post?.requestBody;
    for (const path of ['/dev/v1/posts', '/dev/v1/posts/{id}/comments'])
      expect(Object.keys(body(path)?.content ?? {})).toEqual(['application/json']);
    expect(Object.keys(schema('CreatePost').properties ?? {})).toEqual([
      ...['title', 'content', 'type', 'images', 'tags'],
      ...['latitude', 'longitude', 'reachKm', 'visibility'],
    ]);
    for (const name of ['CreatePost', 'CreateComment'])
      expect(schema(name)['additionalProperties']).toBe(false);
    expect(schema('CreatePost').required).toBeUndefined();
    expect(schema('CreateComment').required).toEqual(['text']);
  });

  it('declares each field of a request body once, with one type and null', () => {
    const { allOf, anyOf, oneOf, if: condition, properties = {} } = schema('CreatePost');
    expect([allOf, anyOf, oneOf, condition]).toEqual([undefined, undefined, undefined, undefined]);
    const types = Object.entries(properties).map(([name, { type }]) => [name, type]);
    expect(Object.fromEntries(types)).toEqual({
      ...Object.fromEntries(
        ['title', 'content', 'type', 'visibility'].map((name) => [name, ['string', 'null']]),
      ),
      ...Object.fromEntries(['images', 'tags'].map((name) => [name, ['array', 'null']])),
      ...Object.fromEntries(
        ['latitude', 'longitude', 'reachKm'].map((name) => [name, ['number', 'null']]),
      ),
    });
    expect(schema('CreatePost')['description']).toContain('At least one of title, content, images');
  });

  it('describes each operation alone, for tools that show only its description', () => {
    for (const { operation } of operationEntries(document))
      expect(operation.description).toMatch(new RegExp(`^${operation.summary}\\. .+`));
  });

  it('describes in each list operation how clients page that do not see headers', () => {
    const lists = operations().filter(({ operation: { parameters = [] } }) =>
      parameters.some(({ name }) => name === 'before'),
    );
    expect(lists.map(({ path }) => path)).toEqual([
      '/dev/v1/posts',
      '/dev/v1/posts/{id}/comments',
      '/dev/v1/requests',
    ]);
    for (const { operation } of lists)
      expect(operation.description).toMatch(/send the id of the last (item|request).* as `before`/);
  });

  it('says that an empty optional query parameter counts as absent, as in the service', () => {
    expect(served.info.description).toContain(
      'An optional query parameter with an empty value counts as absent.',
    );
    const before = operations().flatMap(({ operation: { parameters = [] } }) =>
      parameters.filter(({ name }) => name === 'before'),
    );
    expect(before).toHaveLength(3);
    for (const { description } of before)
      expect(description).toContain('An empty value counts as absent.');
  });

  it('has examples of the right kind of id: comments for comments', () => {
    const deleted = document.paths['/dev/v1/comments/{id}']?.['delete'];
    expect(deleted?.parameters?.[0]?.schema).toMatchObject({
      example: expect.stringMatching(/^cmt_/) as string,
    });
    expect(deleted?.responses['200']?.content?.['application/json']).toMatchObject({
      example: { id: expect.stringMatching(/^cmt_/) as string, deleted: true },
    });
    const list = document.paths['/dev/v1/posts/{id}/comments']?.['get'];
    expect(list?.responses['200']?.headers?.['Link']).toMatchObject({
      example: expect.stringMatching(/\/posts\/post_\w+\/comments\?.*before=cmt_/) as string,
    });
  });

  it('has its own origin in all examples, except for pictures, which are elsewhere', () => {
    const urls = JSON.stringify(examplesOf(document).map(({ value }) => value)).match(
      /https?:\/\/[^\\"?>#,]*/g,
    );
    const elsewhere = new Set(urls?.filter((url) => !url.startsWith(app().baseUrl)));
    expect([...elsewhere].toSorted()).toEqual([
      'https://example.com/party.jpg',
      'https://example.com/photos/ana.jpg',
      'https://example.com/photos/ben.jpg',
    ]);
  });

  it('declares the parameters of the token form, whose descriptions say which grant needs them', () => {
    const { content } = document.paths['/oauth/token']?.['post']?.requestBody ?? {};
    const form = content?.['application/x-www-form-urlencoded']?.schema;
    expect(form?.required).toEqual(['grant_type']);
    // Tools that turn operations into tools of agents refuse `anyOf` in a body. The descriptions have the rule.
    expect(form).not.toHaveProperty('anyOf');
  });

  it.each([
    ['User', ['id', 'name', 'photoUrl', 'karma', 'neighborhood']],
    ['PostItem', ['id', 'content', 'permalink', 'createdAt']],
    ['Post', ['id', 'content', 'tags', 'reachKm', 'visibility', 'permalink', 'createdAt']],
    ['Comment', ['id', 'text', 'parentId', 'author', 'createdAt', 'permalink']],
    ['Analytics', ['id', 'likes', 'comments', 'publishedAt', 'permalink']],
    ['Deleted', ['id', 'deleted']],
    ['PageMeta', ['page', 'limit', 'total']],
  ])('%s requires all of its fields', (name, fields) => {
    expect(schema(name).required?.toSorted()).toEqual(fields.toSorted());
    expect(Object.keys(schema(name).properties ?? {}).toSorted()).toEqual(fields.toSorted());
  });

  it('is served at /docs without inline scripts and with a policy that forbids them', async () => {
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

/** The examples of all fields, parameters, headers and bodies, with their schemas. */
function examplesOf(document: OpenApiDocument): { path: string; schema: Schema; value: unknown }[] {
  const found: ReturnType<typeof examplesOf> = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    // The example of a parameter or header stands beside its schema, that of a field inside the schema of the field.
    const { schema, example, examples, ...fieldSchema } = value as Record<string, unknown>;
    if (example !== undefined)
      found.push({ path, schema: (schema ?? fieldSchema) as Schema, value: example });
    for (const [name, one] of Object.entries(
      (examples ?? {}) as Record<string, { value: unknown }>,
    ))
      found.push({ path: `${path} ${name}`, schema: schema as Schema, value: one.value });
    for (const [name, member] of Object.entries(value))
      if (name !== 'example' && name !== 'examples') visit(member, `${path}/${name}`);
  };
  visit(document, '');
  return found;
}
