import { readFile, writeFile } from 'node:fs/promises';
import ts from 'typescript';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';

const DOCUMENT = 'openapi/openapi.json';
const FILE = 'clients/typescript/src/operations.ts';
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

const HEAD = `\
// Generated from ${DOCUMENT} by "npm run openapi".
`;

interface Schema {
  $ref?: string;
  oneOf?: Schema[];
  description?: string;
  properties?: Record<string, { type?: string }>;
}

interface Operation {
  operationId: string;
  summary: string;
  parameters?: { in?: string }[];
  responses: Record<string, { content?: Record<string, { schema: Schema }>; headers?: object }>;
}

interface Webhook {
  post: {
    operationId: string;
    summary: string;
    requestBody: { content: { 'application/json': { schema: Schema } } };
  };
}

interface Document extends Record<string, unknown> {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Webhook>;
  components: { schemas: Record<string, Schema> };
}

/** Types that `openapi-typescript` always writes, and that the client does not import. */
const UNUSED_TYPES = ['paths', 'webhooks', '$defs'];

/**
 * The operations of the API and their schemas, without those of the authorization server. Of the responses, only the successful
 * ones. Of the webhooks, only the events.
 */
function apiOnly({ paths, webhooks, components, ...document }: Document): Document {
  const entries = Object.entries(paths).filter(([path]) => path.startsWith('/dev/'));
  const events = eventsOf(webhooks);
  const used = schemasIn([entries, events], { ...components.schemas, ...events });
  const schemas = Object.entries(components.schemas).filter(([name]) => used.has(name));
  return {
    ...document,
    webhooks: {},
    components: { schemas: { ...Object.fromEntries(schemas), ...events } },
    paths: Object.fromEntries(
      entries.map(([path, item]) => [
        path,
        Object.fromEntries(
          METHODS.flatMap((method) => {
            const operation = item[method];
            return operation ? [[method, clientOperation(operation)]] : [];
          }),
        ),
      ]),
    ),
  };
}

/** A schema for each event, such as `CommentCreatedEvent`, and `WebhookEvent` for all of them. */
function eventsOf(webhooks: Document['webhooks']): Record<string, Schema> {
  const events = Object.values(webhooks).map(({ post }): [string, Schema] => [
    post.operationId.replace(/^receive(.*)$/, '$1Event'),
    { ...post.requestBody.content['application/json'].schema, description: post.summary },
  ]);
  const oneOf = events.map(([name]) => ({ $ref: `#/components/schemas/${name}` }));
  return Object.fromEntries([
    ...events,
    ['WebhookEvent', { oneOf, description: 'An event that the service sends to the app.' }],
  ]);
}

/** The names of the schemas that a part of the document refers to, also indirectly. */
function schemasIn(
  part: unknown,
  schemas: Document['components']['schemas'],
  found = new Set<string>(),
): ReadonlySet<string> {
  for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (found.has(name)) continue;
    found.add(name);
    schemasIn(schemas[name], schemas, found);
  }
  return found;
}

/** The client sets the headers of requests and reads those of responses. */
function clientOperation(operation: Operation): Operation {
  const success = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
  return {
    ...operation,
    parameters: operation.parameters?.filter(
      ({ in: place }) => place === 'path' || place === 'query',
    ),
    responses: Object.fromEntries(
      success.map(([status, response]) => [status, { ...response, headers: undefined }]),
    ),
  };
}

/** The table of operations: method, path, and `list` for those with pages. */
function tableOf({ paths, components }: Document): string {
  const entries = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const list = isList(operation, components.schemas) ? `, 'list'` : '';
      return `/** ${operation.summary}. */
${operation.operationId}: ['${method.toUpperCase()}', '${path}'${list}],`;
    }),
  );
  return `/** Method and path of each operation, and \`list\` if its result is a page of a list. */
export const OPERATIONS = {\n${entries.join('\n')}\n} as const;\n`;
}

/** Whether the response is a page: \`data\` is an array, and the \`Link\` header leads to the next page. */
function isList({ responses }: Operation, schemas: Record<string, Schema>): boolean {
  const { schema } = responses['200']?.content?.['application/json'] ?? {};
  const { properties } = schemas[schema?.$ref?.split('/').at(-1) ?? ''] ?? schema ?? {};
  return properties?.data?.type === 'array' && properties.meta !== undefined;
}

async function generated(): Promise<string> {
  const document = apiOnly(JSON.parse(await readFile(DOCUMENT, 'utf8')) as Document);
  const types = await openapiTS(document as unknown as OpenAPI3, {
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
  });
  const usedTypes = types.filter((type) => !UNUSED_TYPES.includes(nameOf(type)));
  const options = await resolveConfig(FILE);
  return format(`${HEAD}\n${tableOf(document)}\n${astToString(usedTypes)}`, {
    ...options,
    parser: 'typescript',
  });
}

function nameOf(type: ts.Node): string {
  return ts.isInterfaceDeclaration(type) || ts.isTypeAliasDeclaration(type) ? type.name.text : '';
}

/** Writes the file with `--write`; without it, fails if the committed file is outdated. */
async function main(): Promise<void> {
  const text = await generated();
  if (process.argv.includes('--write')) {
    await writeFile(FILE, text);
    console.log(`Wrote ${FILE}.`);
  } else if ((await readFile(FILE, 'utf8').catch(() => '')) === text) {
    console.log(`${FILE} is up to date.`);
  } else {
    console.error(`${FILE} is outdated. Run "npm run openapi" and review the diff.`);
    process.exitCode = 1;
  }
}

await main();
