import { SCOPES } from '../../src/platform/access/scopes.js';
import { API_ERRORS } from '../../src/platform/errors.js';
import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { bodyOf, ENDPOINTS, pathWithUnknownIds } from '../support/api.js';
import { onSqlite } from '../support/database.js';
import { Member } from '../support/member.js';
import {
  type DeclaredResponse,
  type Operation,
  type OperationEntry,
  operationEntries,
  publishedDocument,
  type Schema,
} from '../support/published-document.js';
import { type ErrorBody, json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const document = publishedDocument();
const entries = operationEntries(document);
const schemas = document.components.schemas;

/** The declared errors with a JSON body: operation, status and response. */
const errors = entries.flatMap(({ operation }) =>
  Object.entries(operation.responses)
    .filter(([status, { content }]) => Number(status) >= 400 && content?.['application/json'])
    .map(([status, response]) => [operation.operationId, Number(status), response] as const),
);
const operationOf = (method: string, path: string): Operation => {
  const found = document.paths[path.replace(/:\w+/, '{id}')]?.[method.toLowerCase()];
  if (!found) throw new Error(`There is no ${method} ${path}.`);
  return found;
};

function examplesOf(response?: DeclaredResponse): ErrorBody[] {
  const examples = response?.content?.['application/json']?.examples ?? {};
  return Object.values(examples).map(({ value }) => value as ErrorBody);
}

/** The listed error codes of a response, and the schema for other codes. */
function codesOf({ content }: DeclaredResponse): [string[], Schema] {
  const narrowed = (content?.['application/json']?.schema['allOf'] ?? []) as Schema[];
  expect(narrowed[0]?.$ref).toMatch(/^#\/components\/schemas\/(OAuth)?Error$/);
  const [listed, others] = (narrowed[1]?.properties?.['error']?.['anyOf'] ?? []) as Schema[];
  return [enumOf(listed), others ?? {}];
}

function enumOf(schema: Schema = {}): string[] {
  return schema['enum'] as string[];
}

/** The names of all parameters and body fields of an operation. */
function namesIn({ operation }: OperationEntry): string[] {
  const body = operation.requestBody?.content['application/json']?.schema.$ref?.split('/').at(-1);
  const fields = Object.keys(schemas[body ?? '']?.properties ?? {});
  return [...fields, ...(operation.parameters ?? []).map(({ name }) => name)];
}

describe('Errors of the OpenAPI document', () => {
  it.each(errors)('%s %d lists its error codes and allows others', (...given) => {
    const [, status, response] = given;
    const [codes, others] = codesOf(response);
    expect(codes.length).toBeGreaterThan(0);
    expect(codes).toEqual([...new Set(examplesOf(response).map(({ error }) => error))]);
    expect(others).toEqual({ type: 'string', pattern: '^[a-z][a-z_]*$' });
    const list = schemas[isOAuth(given[0]) ? 'OAuthErrorCode' : 'ErrorCode']?.['enum'];
    expect(list).toEqual(expect.arrayContaining(codes));
    if (!isOAuth(given[0]))
      for (const code of codes) expect(API_ERRORS).toHaveProperty([code, 'status'], status);
  });

  it('list all error codes in schemas of their own', () => {
    expect(schemas['ErrorCode']?.['enum']).toEqual(Object.keys(API_ERRORS));
    expect(schemas['FieldErrorCode']?.['enum']).toHaveLength(17);
    const codes = errors.filter(([name]) => isOAuth(name)).flatMap(([, , one]) => codesOf(one)[0]);
    expect([...new Set(codes)].toSorted()).toEqual(enumOf(schemas['OAuthErrorCode']).toSorted());
    for (const [name, field, list] of [
      ['Error', 'error', 'ErrorCode'],
      ['FieldError', 'code', 'FieldErrorCode'],
      ['OAuthError', 'error', 'OAuthErrorCode'],
    ] as const)
      expect(schemas[name]?.properties?.[field]?.['anyOf']).toEqual([
        { $ref: `#/components/schemas/${list}` },
        { type: 'string', pattern: expect.any(String) },
      ]);
  });

  it.each(entries.map((entry) => [entry.operation.operationId, entry] as const))(
    '%s reports only fields and parameters that it has',
    (_, entry) => {
      const reported = examplesOf(entry.operation.responses['400']).flatMap(
        (body) => body.errors?.map(({ field }) => field) ?? [],
      );
      for (const field of reported) expect(namesIn(entry)).toContain(field);
      const takesBody = entry.operation.requestBody?.content['application/json'] !== undefined;
      if (takesBody) expect(reported).not.toEqual([]);
    },
  );
});

const SCOPED = ENDPOINTS.filter(({ scope }) => scope !== null);

onSqlite('Examples of the OpenAPI document', (database) => {
  const app = useTestApp(database);

  it.each(SCOPED)(
    'equal the description and the WWW-Authenticate header of the 403 response of $method $path',
    async (endpoint) => {
      const { method, path, scope } = endpoint;
      const scopes = SCOPES.filter((one) => one !== scope);
      const { token } = await Member.join(app(), { scopes });
      const response = await app().call(
        token,
        method,
        pathWithUnknownIds(endpoint),
        bodyOf(endpoint),
      );
      const declared = operationOf(method, `/dev/v1${path}`).responses['403'];
      expect(response.status).toBe(403);
      expect(exampleOf(declared, 'WWW-Authenticate')).toBe(
        response.headers.get('www-authenticate')?.replace(app().baseUrl, 'https://dev.example.com'),
      );
      const { error_description } = await json<ErrorBody>(response);
      expect(examplesOf(declared)[0]?.error_description).toBe(error_description);
    },
  );

  it('equal the headers of a new post and a 429, and declare a Retry-After of one second for a 409', async () => {
    const member = await Member.join(app());
    await app().service(QuotaService).set(member.client.clientId, { limit: 1 }, { actor: 'test' });
    const created = await member.post('/posts', { content: 'x' });
    const rejected = await member.post('/posts', { content: 'x' });
    const { responses } = operationOf('POST', '/dev/v1/posts');
    const location = responses['201']?.headers?.['Location'];
    expect(location?.required).toBe(true);
    expect(shapeOf(exampleOf(responses['201'], 'Location'))).toBe(
      shapeOf(created.headers.get('location')),
    );
    expect(rejected.status).toBe(429);
    for (const name of ['RateLimit', 'RateLimit-Policy'])
      expect(withoutTimes(exampleOf(responses['429'], name))).toBe(
        withoutTimes(rejected.headers.get(name))?.replace('q=1;', 'q=100;'),
      );
    expect(exampleOf(responses['429'], 'RateLimit')).toMatch(/;r=0;t=\d+$/);
    const seconds = /t=(\d+)$/.exec(String(exampleOf(responses['429'], 'RateLimit')))?.[1];
    // At most a week.
    expect(exampleOf(responses['429'], 'Retry-After')).toBe(Math.min(Number(seconds), 604_800));
    expect(exampleOf(responses['409'], 'Retry-After')).toBe(1);
  });
});

function isOAuth(operationId: string): boolean {
  return ['token', 'revoke', 'introspect'].includes(operationId);
}

function exampleOf(response: DeclaredResponse | undefined, header: string): unknown {
  return (response?.headers?.[header] as { example?: unknown } | undefined)?.example;
}

/** A path without the random part of its id. */
function shapeOf(path: unknown): string {
  return String(path).replace(/post_[0-9a-z]{26}$/, 'post_');
}

function withoutTimes(value: unknown): string {
  return String(value).replaceAll(/(?<=[wt]=)\d+/g, 'n');
}
