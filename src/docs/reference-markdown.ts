import type { OpenAPIObject } from '@nestjs/swagger';

/** The parts of a schema that the reference shows. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  enum?: unknown[];
  example?: unknown;
}

interface Described {
  description?: string;
  required?: boolean;
  schema: Schema;
  example?: unknown;
}

interface Parameter extends Described {
  $ref?: string;
  name: string;
  in: string;
}

type Content = Record<string, { schema: Schema }>;

interface Response {
  description: string;
  headers?: Record<string, Described & { $ref?: string }>;
  content?: Content;
}

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, Response>;
}

interface Components {
  parameters: Record<string, Parameter>;
  headers: Record<string, Described>;
  schemas: Record<string, Schema>;
  securitySchemes: Record<
    string,
    { flows?: { authorizationCode: { scopes: Record<string, string> } } }
  >;
}

/** The keywords of a schema that limit its values. */
const LIMITS = [
  'const',
  'format',
  'pattern',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'maxItems',
  'default',
] as const;

/** The OpenAPI document as Markdown: the operations and webhooks by tag, then the headers and the schemas to which they link. */
export function referenceMarkdown(document: OpenAPIObject): string {
  const { info, tags = [], servers = [] } = document;
  const components = document.components as unknown as Components;
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Operation>).map(([method, operation]) => ({
      title: `${method.toUpperCase()} ${path}`,
      access: accessOf(operation),
      operation,
    })),
  );
  const webhooks = Object.entries(document.webhooks ?? {}).map(([type, { post }]) => ({
    title: 'POST',
    access: `The service sends the event \`${type}\` to the endpoint of the app.`,
    operation: post as unknown as Operation,
  }));
  const sections = tags.flatMap(({ name, description }) => [
    `## ${name}`,
    description ?? '',
    ...[...operations, ...webhooks]
      .filter(({ operation }) => operation.tags.includes(name))
      .map((one) => operationText(one, components)),
  ]);
  const headers = Object.entries(components.headers).map(([name, header]) => field(name, header));
  const schemas = Object.entries(components.schemas).flatMap(([name, schema]) => [
    `### ${name}`,
    `${schema.description ?? ''}${valuesOf(schema)}`,
    fieldsOf(schema),
  ]);
  return [
    `# ${info.title} ${info.version}`,
    info.description ?? '',
    `Base URL: ${servers[0]?.url}`,
    'Scopes:',
    scopesOf(components),
    ...sections,
    '## Headers of all responses',
    'The variants of `Cache-Control` are `Private`, `NoStore` and `Public`.',
    headers.join('\n'),
    '## Schemas',
    ...schemas,
  ]
    .filter((block) => block !== '')
    .join('\n\n')
    .concat('\n');
}

function scopesOf({ securitySchemes }: Components): string {
  return Object.values(securitySchemes)
    .flatMap(({ flows }) => Object.entries(flows?.authorizationCode.scopes ?? {}))
    .map(([scope, description]) => `- \`${scope}\`: ${description}`)
    .join('\n');
}

function operationText(
  { title, access, operation }: { title: string; access: string; operation: Operation },
  components: Components,
): string {
  const { summary, description, operationId, parameters = [], requestBody, responses } = operation;
  const named = parameters.map(({ $ref, ...one }) =>
    $ref === undefined ? one : (components.parameters[nameOf($ref)] ?? one),
  );
  const bodies = Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema }]) => [
    `Body, \`${type}\`${schema.$ref === undefined ? '' : `: ${typeOf(schema)}`}`,
    fieldsOf(schema),
  ]);
  return [
    `### ${summary}`,
    `\`${title}\`, operation \`${operationId}\`. ${access}`,
    description,
    ...(named.length > 0 ? ['Parameters:'] : []),
    named.map((one) => field(one.name, one, one.in)).join('\n'),
    ...bodies,
    'Responses:',
    Object.entries(responses).map(responseText).join('\n'),
  ]
    .filter((block) => block !== '')
    .join('\n\n');
}

function accessOf({ security = [] }: Operation): string {
  const [requirement] = security;
  if (!requirement) return 'Needs no authentication.';
  const [scheme, scopes = []] = Object.entries(requirement)[0] ?? [];
  if (scheme !== 'oauth2') return 'Needs the credentials of the app.';
  if (scopes.length === 0) return 'Needs an access token with any scope.';
  return `Needs an access token with the scope \`${scopes.join(' ')}\`.`;
}

function responseText([status, { description, headers = {}, content = {} }]: [
  string,
  Response,
]): string {
  const types = Object.entries(content).map(([type, { schema }]) =>
    type === 'application/json' ? typeOf(schema) : `\`${type}\``,
  );
  const own = Object.entries(headers).filter(([, { $ref }]) => $ref === undefined);
  return [
    `- **${status}** ${description.replace(/[^.]$/, '$&.')}${types.length > 0 ? ` Body: ${types.join(', ')}.` : ''}`,
    ...own.map(([name, header]) => `  ${field(name, header)}`),
  ].join('\n');
}

/** A list of the fields of an object, with those of objects inside of it. */
function fieldsOf({ properties = {}, required = [] }: Schema, indent = ''): string {
  return Object.entries(properties)
    .map(([name, schema]) => {
      const { description, example } = schema;
      const line = field(name, { schema, description, example, required: required.includes(name) });
      const inner = fieldsOf(schema.items ?? schema, `${indent}  `);
      return `${indent}${line}${inner === '' ? '' : `\n${inner}`}`;
    })
    .join('\n');
}

/** @param place of a parameter, such as `query` */
function field(name: string, described: Described, place?: string): string {
  const { schema, required, description = '', example = schema.example } = described;
  const { items = {} } = schema;
  const ofEach = limitsOf(items).map((limit) => `each ${limit}`);
  const facts = [place, typeOf(schema), required && 'required', ...limitsOf(schema), ...ofEach];
  const known = facts.filter(Boolean).join(', ');
  const shown = example === undefined ? '' : ` Example: \`${JSON.stringify(example)}\`.`;
  return `- \`${name}\` (${known}): ${description}${valuesOf(schema)}${valuesOf(items)}${shown}`;
}

function typeOf(schema: Schema): string {
  const { $ref, type = '', items, allOf, anyOf } = schema;
  if ($ref !== undefined) return `[${nameOf($ref)}](#${nameOf($ref).toLowerCase()})`;
  if (allOf ?? anyOf) return typeOf((allOf ?? anyOf)?.[0] ?? {});
  return [type]
    .flat()
    .map((one) => (one === 'array' && items ? `array of ${typeOf(items)}` : one))
    .join(' or ');
}

function limitsOf(schema: Schema): string[] {
  return LIMITS.filter((keyword) => keyword in schema).map(
    (keyword) => `${keyword} \`${String((schema as Record<string, unknown>)[keyword])}\``,
  );
}

function valuesOf({ enum: values }: Schema): string {
  if (!values) return '';
  return ` Values: ${values.map((value) => `\`${String(value)}\``).join(', ')}.`;
}

function nameOf(reference: string): string {
  return reference.split('/').at(-1) ?? '';
}
