import { SCOPES } from '../../src/common/scopes.js';
import { ERROR_STATUS } from '../../src/http/error-status.js';
import { bodyOf, ENDPOINTS, pathOf } from '../support/api.js';
import { onSqlite } from '../support/database.js';
import { Member } from '../support/member.js';
import {
  type DeclaredResponse,
  type Operation,
  type Place,
  placesOf,
  publishedDocument,
  type Schema,
} from '../support/published-document.js';
import { type ErrorBody, json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const document = publishedDocument();
const places = placesOf(document);
const schemas = document.components.schemas;

/** Every error with a JSON body, by operation and status. */
const errors = places.flatMap(({ operation }) =>
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

/** The codes that the schema of an error names, and what else it takes. */
function codesOf({ content }: DeclaredResponse): [string[], Schema] {
  const narrowed = (content?.['application/json']?.schema['allOf'] ?? []) as Schema[];
  const [present, others] = (narrowed[1]?.properties?.['error']?.['anyOf'] ?? []) as Schema[];
  return [enumOf(present), others ?? {}];
}

function enumOf(schema: Schema = {}): string[] {
  return schema['enum'] as string[];
}

/** What a request of the operation can get wrong, by name. */
function namesIn({ operation }: Place): string[] {
  const body = operation.requestBody?.content['application/json']?.schema.$ref?.split('/').at(-1);
  const fields = Object.keys(schemas[body ?? '']?.properties ?? {});
  return [...fields, ...(operation.parameters ?? []).map(({ name }) => name)];
}

describe('The errors of the published document', () => {
  it.each(errors)('%s %d names the codes that it may have, and is open for others', (...given) => {
    const [, status, response] = given;
    const [codes, others] = codesOf(response);
    expect(codes.length).toBeGreaterThan(0);
    expect(codes).toEqual([...new Set(examplesOf(response).map(({ error }) => error))]);
    expect(others).toEqual({ type: 'string', pattern: '^[a-z][a-z_]*$' });
    const list = schemas[isOAuth(given[0]) ? 'OAuthErrorCode' : 'ErrorCode']?.['enum'];
    expect(list).toEqual(expect.arrayContaining(codes));
    if (!isOAuth(given[0]))
      for (const code of codes) expect(ERROR_STATUS).toHaveProperty(code, status);
  });

  it('have their codes as lists of their own', () => {
    expect(schemas['ErrorCode']?.['enum']).toEqual(Object.keys(ERROR_STATUS));
    expect(schemas['FieldErrorCode']?.['enum']).toHaveLength(17);
    const told = errors.filter(([name]) => isOAuth(name)).flatMap(([, , one]) => codesOf(one)[0]);
    expect([...new Set(told)].toSorted()).toEqual(enumOf(schemas['OAuthErrorCode']).toSorted());
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

  it.each(places.map((place) => [place.operation.operationId, place] as const))(
    '%s blames only what it takes',
    (_, place) => {
      const blamed = examplesOf(place.operation.responses['400']).flatMap(
        (body) => body.errors?.map(({ field }) => field) ?? [],
      );
      for (const field of blamed) expect(namesIn(place)).toContain(field);
      const takesBody = place.operation.requestBody?.content['application/json'] !== undefined;
      if (takesBody) expect(blamed).not.toEqual([]);
    },
  );
});

const SCOPED = ENDPOINTS.filter(({ scope }) => scope !== null);

onSqlite('The examples of the published document', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '1' });

  it.each(SCOPED)('have the 403 of $method $path as it is', async (endpoint) => {
    const { method, path, scope } = endpoint;
    const scopes = SCOPES.filter((one) => one !== scope);
    const { token } = await Member.join(app(), { scopes });
    const answer = await app().call(token, method, pathOf(endpoint), bodyOf(endpoint));
    const declared = operationOf(method, `/dev/v1${path}`).responses['403'];
    expect(answer.status).toBe(403);
    expect(exampleOf(declared, 'WWW-Authenticate')).toBe(answer.headers.get('www-authenticate'));
    const { error_description } = await json<ErrorBody>(answer);
    expect(examplesOf(declared)[0]?.error_description).toBe(error_description);
  });

  it('have a 429 at the end of a quota, a 409 for a second, and where a new post is', async () => {
    const member = await Member.join(app());
    const made = await member.post('/posts', { content: 'x' });
    const spent = await member.post('/posts', { content: 'x' });
    const { responses } = operationOf('POST', '/dev/v1/posts');
    const location = responses['201']?.headers?.['Location'];
    expect(location?.required).toBe(true);
    expect(shapeOf(exampleOf(responses['201'], 'Location'))).toBe(
      shapeOf(made.headers.get('location')),
    );
    expect(spent.status).toBe(429);
    for (const name of ['RateLimit', 'RateLimit-Policy'])
      expect(withoutTimes(exampleOf(responses['429'], name))).toBe(
        withoutTimes(spent.headers.get(name))?.replace('q=1;', 'q=100;'),
      );
    expect(exampleOf(responses['429'], 'RateLimit')).toMatch(/;r=0;t=\d+$/);
    const seconds = /t=(\d+)$/.exec(String(exampleOf(responses['429'], 'RateLimit')))?.[1];
    expect(exampleOf(responses['429'], 'Retry-After')).toBe(Number(seconds));
    expect(exampleOf(responses['409'], 'Retry-After')).toBe(1);
  });
});

function isOAuth(operationId: string): boolean {
  return ['token', 'revoke', 'introspect'].includes(operationId);
}

function exampleOf(response: DeclaredResponse | undefined, header: string): unknown {
  return (response?.headers?.[header] as { example?: unknown } | undefined)?.example;
}

/** A path whose id is any. */
function shapeOf(path: unknown): string {
  return String(path).replace(/post_[0-9a-z]{26}$/, 'post_');
}

function withoutTimes(value: unknown): string {
  return String(value).replaceAll(/(?<=[wt]=)\d+/g, 'n');
}
