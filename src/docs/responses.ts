import type { OpenAPIObject } from '@nestjs/swagger';
import { CODES as OAUTH_CODES } from '../modules/oauth/clients/oauth-error.filter.js';
import { DEV_V1 } from '../platform/http/developer-api.js';
import { ERROR_STATUS, FIELD_ERROR_CODES } from '../platform/http/errors/api-errors.js';
import { REQUEST_ID_PATTERN } from '../platform/http/request-context.js';
import { openCode } from '../platform/http/validation/schemas.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Response = Exclude<Operation['responses'][string], { $ref: string } | undefined>;
type Content = NonNullable<Response['content']>[string];

/** All codes that there are, as schemas of their own, so that generated clients have them as types. */
export const CODE_SCHEMAS = {
  ErrorCode: codes('The codes of errors under /dev/v1.', Object.keys(ERROR_STATUS)),
  FieldErrorCode: codes('What can be wrong with a field.', Object.keys(FIELD_ERROR_CODES)),
  OAuthErrorCode: codes('The codes of errors that apps get from /oauth.', OAUTH_CODES),
};

/** An answer whose error body is narrowed to the codes of its examples: each code that it can have has one. */
export function withCodes(answer: Response): Response {
  const { 'application/json': content, ...others } = answer.content ?? {};
  const present = content ? codesIn(content) : [];
  if (!content?.schema || present.length === 0) return answer;
  const error = openCode({ type: 'string', enum: present });
  const schema = { allOf: [content.schema, { properties: { error } }] };
  return {
    ...answer,
    description: answer.description || present.map((code) => `\`${code}\``).join(', '),
    content: { ...others, 'application/json': { ...content, schema } },
  };
}

function codesIn({ examples = {} }: Content): string[] {
  const bodies = Object.values(examples).map((example) =>
    'value' in example ? example.value : {},
  );
  return [...new Set((bodies as { error?: string }[]).flatMap(({ error }) => error ?? []))];
}

function codes(
  description: string,
  values: readonly string[],
): { type: 'string'; description: string; enum: string[] } {
  return { type: 'string', description, enum: [...values] };
}

type Components = NonNullable<OpenAPIObject['components']>;

/** Every operation of a path item that the document may have; HEAD and OPTIONS follow from them. */
const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

const HEADERS = {
  'X-Request-Id': {
    description: 'Id of the request: the one that was sent, where it is a plain one, or a new one.',
    required: true,
    schema: { type: 'string', pattern: REQUEST_ID_PATTERN },
    example: 'req_01kahq5f3veqdr8bn3tdmx3q0a',
  },
  Private: {
    description: 'Only the client itself may keep the answer, and asks before it uses it again.',
    required: true,
    schema: { type: 'string', enum: ['private, no-cache'] },
  },
  NoStore: {
    description: 'Nobody may keep the answer.',
    required: true,
    schema: { type: 'string', enum: ['no-store'] },
  },
  Public: {
    description: 'Whoever likes may keep the answer, for so many seconds.',
    required: true,
    schema: { type: 'string' },
    example: 'public, max-age=3600',
  },
  ETag: {
    description: 'Names this state of the answer, for If-None-Match.',
    required: true,
    schema: { type: 'string', pattern: '^(W/)?"[^"]*"$' },
    example: 'W/"1a-9Zx2"',
  },
} satisfies Components['headers'];

/** What `Cache-Control` says, by the beginning of the path. */
const CACHING: readonly (readonly [string, keyof typeof HEADERS])[] = [
  [`/${DEV_V1}/`, 'Private'],
  ['/oauth/', 'NoStore'],
  ['/.well-known/', 'Public'],
];

const PARAMETERS = {
  'If-None-Match': {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'ETag of an answer that the client has: while it is current, the answer is a 304.',
    schema: { type: 'string' },
  },
  'X-Request-Id': {
    name: 'X-Request-Id',
    in: 'header',
    required: false,
    description:
      'An id of your own for the request: 1 to 64 letters, digits, dots, hyphens and underscores. Anything else is ' +
      'replaced.',
    schema: { type: 'string', example: 'req_01kahq5f3veqdr8bn3tdmx3q0a' },
  },
} satisfies Components['parameters'];

/** What no single route decides, because middleware and Express do: headers of every answer, and conditional requests. And names the codes of every error. */
export function describeEveryAnswer(document: OpenAPIObject): OpenAPIObject {
  for (const [path, item] of Object.entries(document.paths)) {
    const caching = CACHING.find(([start]) => path.startsWith(start))?.[1];
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation) continue;
      takes(operation, 'X-Request-Id');
      if (method === 'get' && bodyOf(operation, '200') !== undefined) makeConditional(operation);
      for (const [status, response] of Object.entries(operation.responses)) {
        // Operations of one controller share an answer, so it is not changed.
        const answer = withCodes(response as Response);
        operation.responses[status] = {
          ...answer,
          description: answer.description || descriptionOf(document, answer),
          headers: {
            'X-Request-Id': header('X-Request-Id'),
            ...(caching && { 'Cache-Control': header(caching) }),
            ...answer.headers,
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

function makeConditional(operation: Operation): void {
  takes(operation, 'If-None-Match');
  const answer = operation.responses['200'] as Response;
  answer.headers = { ...answer.headers, ETag: header('ETag') };
  operation.responses['304'] = {
    description: 'Nothing has changed since the answer with this ETag.',
    headers: { ...answer.headers },
  };
}

function takes(operation: Operation, name: keyof typeof PARAMETERS): void {
  operation.parameters = [
    ...(operation.parameters ?? []),
    { $ref: `#/components/parameters/${name}` },
  ];
}

function header(name: keyof typeof HEADERS): { $ref: string } {
  return { $ref: `#/components/headers/${name}` };
}

function bodyOf({ responses }: Operation, status: string): object | undefined {
  return (responses[status] as Response | undefined)?.content?.['application/json']?.schema;
}

/** A success without words of its own says what its body says. */
function descriptionOf({ components }: OpenAPIObject, { content }: Response): string {
  const schema = content?.['application/json']?.schema;
  const name = schema && '$ref' in schema ? schema.$ref.split('/').at(-1) : undefined;
  const body = components?.schemas?.[name ?? ''];
  return body && 'description' in body ? (body.description ?? '') : '';
}
