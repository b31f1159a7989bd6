import type { OpenAPIObject } from '@nestjs/swagger';
import { OAUTH_RESPONSE_CODES } from '../modules/oauth/protocol/oauth.errors.js';
import { API_ERRORS, FIELD_ERRORS } from '../platform/errors.js';
import { DEV_V1 } from '../platform/http/developer-api.js';
import { REQUEST_ID_PATTERN } from '../platform/http/http-request-context.js';
import { extensibleEnum } from '../platform/http/validation/schemas.openapi.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Response = Exclude<Operation['responses'][string], { $ref: string } | undefined>;
type Content = NonNullable<Response['content']>[string];

/** Schemas of all error codes, so that generated clients get types for them. */
const CODE_SCHEMAS = {
  ErrorCode: codeSchema('Error codes of the endpoints under /dev/v1.', Object.keys(API_ERRORS)),
  FieldErrorCode: codeSchema('Error codes of fields.', Object.keys(FIELD_ERRORS)),
  OAuthErrorCode: codeSchema('Error codes of the endpoints under /oauth.', OAUTH_RESPONSE_CODES),
};

/**
 * Restricts `error` to the codes in the examples, which cover every code of the response. A response without a description gets
 * the list of the codes.
 */
function withCodes(response: Response): Response {
  const { 'application/json': content, ...others } = response.content ?? {};
  const codes = content ? codesIn(content) : [];
  if (!content?.schema || codes.length === 0) return response;
  const error = extensibleEnum({ type: 'string', enum: codes });
  const schema = { allOf: [content.schema, { properties: { error } }] };
  return {
    ...response,
    description: response.description || codes.map((code) => `\`${code}\``).join(', '),
    content: { ...others, 'application/json': { ...content, schema } },
  };
}

/** The values of `error` in the examples. */
function codesIn({ examples = {} }: Content): string[] {
  const bodies = Object.values(examples).map((example) =>
    'value' in example ? example.value : {},
  );
  return [...new Set((bodies as { error?: string }[]).flatMap(({ error }) => error ?? []))];
}

function codeSchema(
  description: string,
  values: readonly string[],
): { type: 'string'; description: string; enum: string[] } {
  return { type: 'string', description, enum: [...values] };
}

type Components = NonNullable<OpenAPIObject['components']>;

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

/** Header components by name. `Private`, `NoStore` and `Public` are the variants of `Cache-Control`. */
const HEADERS = {
  'X-Request-Id': {
    description: 'Id of the request. Include it when you contact support.',
    required: true,
    schema: { type: 'string', pattern: REQUEST_ID_PATTERN },
    example: 'req_01kahq5f3veqdr8bn3tdmx3q0a',
  },
  Private: {
    description: 'Only the client may cache the response, and must revalidate it before each use.',
    required: true,
    schema: { type: 'string', enum: ['private, no-cache'] },
  },
  NoStore: {
    description: 'The response must not be cached.',
    required: true,
    schema: { type: 'string', enum: ['no-store'] },
  },
  Public: {
    description: 'Publicly cacheable for `max-age` seconds.',
    required: true,
    schema: { type: 'string' },
    example: 'public, max-age=3600',
  },
  ETag: {
    description: 'Entity tag of the response, for use in If-None-Match.',
    required: true,
    schema: { type: 'string', pattern: '^(W/)?"[^"]*"$' },
    example: 'W/"1a-9Zx2"',
  },
} satisfies Components['headers'];

/** The `Cache-Control` header by path prefix. */
const CACHE_CONTROL: readonly (readonly [string, keyof typeof HEADERS])[] = [
  [`/${DEV_V1}/`, 'Private'],
  ['/oauth/', 'NoStore'],
  ['/.well-known/', 'Public'],
];

const PARAMETERS = {
  'If-None-Match': {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'ETag of a cached response. Returns 304 if the response has not changed.',
    schema: { type: 'string' },
  },
  'X-Request-Id': {
    name: 'X-Request-Id',
    in: 'header',
    required: false,
    description:
      'Your own id for the request, for the log of the service: 1 to 64 letters, digits, dots, hyphens and underscores. Others are ignored. The response has another id.',
    // Without an example, because Swagger UI would send it with every call.
    schema: { type: 'string' },
  },
} satisfies Components['parameters'];

/**
 * Documents what no decorator declares: the header X-Request-Id of requests and responses, the Cache-Control of responses,
 * conditional GET requests, and the error codes of each response.
 */
export function describeResponses(document: OpenAPIObject): OpenAPIObject {
  for (const [path, item] of Object.entries(document.paths)) {
    const cacheControl = CACHE_CONTROL.find(([prefix]) => path.startsWith(prefix))?.[1];
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation) continue;
      // Some tools for agents show only the description, some only the summary.
      operation.description = [operation.summary, operation.description].join('. ');
      addParameter(operation, 'X-Request-Id');
      if (method === 'get') makeConditional(operation);
      for (const [status, shared] of Object.entries(operation.responses)) {
        // Copied, because operations of one controller share response objects.
        const response = withCodes(shared as Response);
        operation.responses[status] = {
          ...response,
          description: response.description || descriptionOf(document, response),
          headers: {
            'X-Request-Id': header('X-Request-Id'),
            ...(cacheControl && { 'Cache-Control': header(cacheControl) }),
            ...response.headers,
          },
        };
      }
    }
  }
  return {
    ...document,
    components: {
      ...document.components,
      schemas: { ...document.components?.schemas, ...CODE_SCHEMAS },
      headers: HEADERS,
      parameters: PARAMETERS,
    },
  };
}

/** Documents If-None-Match, ETag and the status 304, if the operation returns JSON. */
function makeConditional(operation: Operation): void {
  const response = operation.responses['200'] as Response | undefined;
  if (!response?.content?.['application/json']?.schema) return;
  addParameter(operation, 'If-None-Match');
  response.headers = { ...response.headers, ETag: header('ETag') };
  operation.responses['304'] = {
    description: 'The response has not changed since the one with this ETag.',
    headers: { ...response.headers },
  };
}

function addParameter(operation: Operation, name: keyof typeof PARAMETERS): void {
  operation.parameters = [
    ...(operation.parameters ?? []),
    { $ref: `#/components/parameters/${name}` },
  ];
}

function header(name: keyof typeof HEADERS): { $ref: string } {
  return { $ref: `#/components/headers/${name}` };
}

/** The description of the body schema, for a response without a description. */
function descriptionOf({ components }: OpenAPIObject, { content }: Response): string {
  const schema = content?.['application/json']?.schema;
  const name = schema && '$ref' in schema ? schema.$ref.split('/').at(-1) : undefined;
  const body = components?.schemas?.[name ?? ''];
  return body && 'description' in body ? (body.description ?? '') : '';
}
