import type { OpenAPIObject } from '@nestjs/swagger';
import { ORIGIN_PLACEHOLDER, POSTMAN_ENVIRONMENT } from '../src/docs/served-files.js';
import {
  CLIENT_SECURITY_SCHEME,
  SECURITY_SCHEME,
} from '../src/platform/access/scopes.decorator.js';
import { SCOPES } from '../src/platform/access/scopes.js';

/** The parts of a schema that examples are made from. */
interface Schema {
  description?: string;
  type?: string | string[];
  example?: unknown;
  default?: unknown;
  enum?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}

type Content = Record<string, { schema: Schema; example?: unknown }>;

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}

/** An operation with its path and method. */
interface Entry {
  method: string;
  path: string;
  operation: Operation;
}

/** A header, a query parameter or a form field. */
interface Field {
  key: string;
  value: string;
  description?: string;
  disabled: boolean;
}

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';

const BASE_URL = ORIGIN_PLACEHOLDER.origin;

/** Postman's redirect URI for an authorization in the browser. */
const CALLBACK = 'https://oauth.pstmn.io/v1/callback';

const METHODS = ['post', 'get', 'delete'] as const;

/** The order of requests: create, read, delete, revoke. */
const rank = ({ method, operation }: Entry): number =>
  operation.operationId === 'revoke' ? METHODS.length : METHODS.findIndex((one) => one === method);

/** Values of optional headers and of form fields. Form fields without a value here are disabled. */
const HEADER_VALUES: Readonly<Record<string, string>> = { 'Idempotency-Key': '{{$guid}}' };
const FORM_VALUES: Readonly<Record<string, string>> = {
  grant_type: 'refresh_token',
  refresh_token: '{{refreshToken}}',
  token: '{{accessToken}}',
};

/** Variables that the response of an operation sets, by the field of the response. */
const RESPONSE_VARIABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  createPost: { id: 'postId' },
  createComment: { id: 'commentId' },
  listRequests: { 'data[0]?.id': 'requestId' },
  token: { access_token: 'accessToken', refresh_token: 'refreshToken' },
};

/** The variables in paths that have this part; others have the id of a post. */
const ID_VARIABLES = [
  ['/comments/', '{{commentId}}'],
  ['/requests/', '{{requestId}}'],
] as const;

/** The variables of the collection. The developer enters `clientId` and `clientSecret`; requests set the others. */
const VARIABLES = [
  'clientId',
  'clientSecret',
  'accessToken',
  'refreshToken',
  'postId',
  'commentId',
  'requestId',
];
const SECRETS = ['clientSecret', 'accessToken', 'refreshToken'];

/** The Postman environment. */
export function postmanEnvironment(): object {
  return {
    name: `Developer API (${ORIGIN_PLACEHOLDER.host})`,
    values: [
      { key: 'baseUrl', value: BASE_URL, type: 'default', enabled: true },
      ...VARIABLES.map((key) => ({
        key,
        value: '',
        type: SECRETS.includes(key) ? 'secret' : 'default',
        enabled: true,
      })),
    ],
    _postman_variable_scope: 'environment',
  };
}

/**
 * Converts the document to a Postman collection (format 2.1) with a folder for each tag, and one for deletions. The authorization
 * endpoint is not a request of the collection: Postman opens it to get a token.
 */
export function postmanCollection(document: OpenAPIObject): object {
  const { info, tags = [] } = document;
  const entries = entriesOf(document);
  const others = entries.filter((entry) => !isDeletion(entry));
  const folders = tags.map(({ name, description }) => ({
    name,
    description,
    item: others.filter(({ operation }) => operation.tags.includes(name)).map(toItem),
  }));
  // The links of the document are relative.
  const description = info.description?.replaceAll('](/', `](${BASE_URL}/`);
  // A run of the collection needs the post and the comment in several folders, so it deletes them after all others.
  const deletions = {
    name: 'deletions',
    description: 'Delete the comment and the post that the requests above created.',
    item: entries.filter(isDeletion).map(toItem),
  };
  return {
    info: {
      name: info.title,
      description: `${description}\n\nTo send requests:\n\n1. Import the environment ${BASE_URL}/${POSTMAN_ENVIRONMENT} and select it.\n2. Register the redirect URI ${CALLBACK}, only for a test app: codes that are sent there are read by Postman's site, so an app of real users must not have it.\n3. Set the variable clientId, and clientSecret for a confidential app.\n4. In the authorization of the collection, remove the scopes that your app is not registered for from Scope.\n5. Select "Get New Access Token".`,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    ...userAuth(),
    variable: [{ key: 'baseUrl', value: BASE_URL }],
    // The OAuth requests are last, because they revoke the access token.
    item: [...folders.filter((folder) => !isOAuth(folder)), deletions, ...folders.filter(isOAuth)],
  };
}

function isOAuth({ name }: { name: string }): boolean {
  return name === 'oauth';
}

function isDeletion({ method }: Entry): boolean {
  return method === 'delete';
}

/** The operations except HTML pages. */
function entriesOf(document: OpenAPIObject): Entry[] {
  const paths = dereferenced(document, document.paths) as Record<string, Record<string, Operation>>;
  return Object.entries(paths)
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({ method, path, operation })),
    )
    .filter(({ operation }) => !isPage(operation))
    .toSorted((one, other) => rank(one) - rank(other));
}

/** Replaces references by what they refer to. The document has no recursive schemas. */
function dereferenced(document: OpenAPIObject, part: unknown): unknown {
  if (Array.isArray(part)) return part.map((one) => dereferenced(document, one));
  if (typeof part !== 'object' || part === null) return part;
  if ('$ref' in part) {
    const keys = String(part.$ref).split('/').slice(1);
    const target = keys.reduce<unknown>(
      (value, key) => (value as Record<string, unknown>)[key],
      document,
    );
    return dereferenced(document, target);
  }
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, dereferenced(document, value)]),
  );
}

function isPage({ responses }: Operation): boolean {
  return 'text/html' in (responses['200']?.content ?? {});
}

function toItem({ method, path, operation }: Entry): object {
  const { operationId, summary, description, parameters = [], security, requestBody } = operation;
  const url = path.replaceAll(/\{(\w+)\}/g, ':$1');
  const inPart = (part: string): Parameter[] => parameters.filter((one) => one.in === part);
  return {
    name: summary,
    request: {
      method: method.toUpperCase(),
      description,
      ...ownAuth(security),
      header: inPart('header').map(toField),
      url: {
        raw: `{{baseUrl}}${url}`,
        host: ['{{baseUrl}}'],
        path: url.slice(1).split('/'),
        query: inPart('query').map(toField),
        variable: inPart('path').map(({ name: key, description: text }) => ({
          key,
          value: ID_VARIABLES.find(([part]) => path.includes(part))?.[1] ?? '{{postId}}',
          description: text,
        })),
      },
      ...(requestBody && { body: bodyOf(requestBody.content) }),
    },
    event: scripts(RESPONSE_VARIABLES[operationId]),
    response: savedResponses(operation),
  };
}

function toField({ name: key, required, description, schema }: Parameter): Field {
  const example = HEADER_VALUES[key] ?? schema.example ?? schema.default ?? '';
  const value = typeof example === 'string' ? example : JSON.stringify(example);
  return { key, value, description, disabled: !required };
}

function bodyOf(content: Content): object {
  const form = content[FORM]?.schema.properties;
  if (form)
    return {
      mode: 'urlencoded',
      urlencoded: Object.entries(form).map(([key, { description }]) => ({
        key,
        value: FORM_VALUES[key] ?? '',
        description,
        disabled: !(key in FORM_VALUES),
      })),
    };
  return { mode: 'raw', raw: exampleText(content), options: { raw: { language: 'json' } } };
}

/** The successful response, made from the examples of its schema. */
function savedResponses({ responses }: Operation): object[] {
  return Object.entries(responses)
    .filter(([status, { content }]) => status.startsWith('2') && content?.[JSON_TYPE])
    .map(([status, { description, content = {} }]) => ({
      name: description,
      code: Number(status),
      header: [{ key: 'Content-Type', value: JSON_TYPE }],
      body: exampleText(content),
    }));
}

function exampleText(content: Content): string {
  const { schema = {}, example = exampleOf(schema) } = content[JSON_TYPE] ?? {};
  return JSON.stringify(example, null, 2);
}

function exampleOf({ type, example, enum: values, items, properties = {} }: Schema): unknown {
  if (example !== undefined) return example;
  if (values) return values[0];
  if (items) return [exampleOf(items)];
  if (type !== 'object') return undefined;
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, exampleOf(schema)]),
  );
}

/** The authorization of requests that do not use the access token of the collection. */
function ownAuth(security: Operation['security'] = []): { auth?: object } {
  if (security.some((scheme) => SECURITY_SCHEME in scheme)) return {};
  if (!security.some((scheme) => CLIENT_SECURITY_SCHEME in scheme))
    return { auth: { type: 'noauth' } };
  return auth('basic', { username: '{{clientId}}', password: '{{clientSecret}}' });
}

/** OAuth 2.0 with PKCE. Requests inherit it from the collection. */
function userAuth(): { auth: object } {
  return auth('oauth2', {
    grant_type: 'authorization_code_with_pkce',
    challengeAlgorithm: 'S256',
    authUrl: '{{baseUrl}}/oauth/authorize',
    accessTokenUrl: '{{baseUrl}}/oauth/token',
    redirect_uri: CALLBACK,
    useBrowser: true,
    clientId: '{{clientId}}',
    clientSecret: '{{clientSecret}}',
    // A public app has no secret, so it cannot use HTTP Basic.
    client_authentication: 'body',
    scope: SCOPES.join(' '),
    // The service requires a state, which Postman does not send by default. A constant one would not protect from forged responses.
    state: '{{$guid}}',
    accessToken: '{{accessToken}}',
    addTokenTo: 'header',
  });
}

function auth(type: string, settings: Readonly<Record<string, unknown>>): { auth: object } {
  return {
    auth: { type, [type]: Object.entries(settings).map(([key, value]) => ({ key, value })) },
  };
}

function scripts(variables: Readonly<Record<string, string>> = {}): object[] {
  const lines = Object.entries(variables).map(
    ([field, variable]) => `  pm.environment.set('${variable}', pm.response.json().${field});`,
  );
  if (lines.length === 0) return [];
  const exec = ['if (pm.response.code < 300) {', ...lines, '}'];
  return [{ listen: 'test', script: { type: 'text/javascript', exec } }];
}
