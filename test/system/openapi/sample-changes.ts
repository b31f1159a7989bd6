/** A document, or any part of it: an object and a list in one type, so that the changes below need no casts. */
type Json = { [name: string]: Json } & Json[] & { push(value: unknown): void };
/** Changes a document in place. */
export type Edit = (document: Json) => unknown;
/** The path of a part of a document. */
type Path = readonly string[];

const POSTS = ['paths', '/dev/v1/posts'];
const POST = ['paths', '/dev/v1/posts/{id}'];
const COMMENTS = ['paths', '/dev/v1/posts/{id}/comments'];
const METADATA = ['paths', '/.well-known/oauth-authorization-server', 'get'];
const FLOW = ['components', 'securitySchemes', 'oauth2', 'flows', 'authorizationCode'];
const PROMPTS = ['properties', 'prompt_values_supported', 'items', 'enum'];
const CREATED = [...POSTS, 'post', 'responses', '201', 'headers'];
const REMAINING = [...POSTS, 'post', 'responses', '429', 'headers', 'RateLimit'];

const schema = (name: string, ...more: string[]): Path => ['components', 'schemas', name, ...more];
const field = (name: string, property: string): Path => schema(name, 'properties', property);
const form = (path: string): Path => [
  ...['paths', path, 'post', 'requestBody', 'content', 'application/x-www-form-urlencoded'],
  'schema',
];
/** The error codes of a response of an operation. */
const codes = (operation: Path, status: string): Path => [
  ...[...operation, 'responses', status, 'content', 'application/json', 'schema', 'allOf', '1'],
  ...['properties', 'error', 'anyOf', '0', 'enum'],
];

/** The member of a document at this path. */
function memberAt(start: Json, path: Path): Json {
  return path.reduce((value, name) => {
    const member = value[name];
    if (member === undefined) throw new Error(`The document has nothing at ${path.join(' ')}.`);
    return member;
  }, start);
}

const set =
  (path: Path, members: object): Edit =>
  (document) =>
    Object.assign(memberAt(document, path), members);
const remove =
  (path: Path, name: string): Edit =>
  (document) =>
    Reflect.deleteProperty(memberAt(document, path), name);
const push =
  (path: Path, value: unknown): Edit =>
  (document) =>
    memberAt(document, path).push(value);
const shift =
  (path: Path): Edit =>
  (document) =>
    memberAt(document, path).shift();
const rename =
  (path: Path, from: string, to: string): Edit =>
  (document) => {
    const parent = memberAt(document, path);
    Object.assign(parent, { [to]: parent[from] });
    return Reflect.deleteProperty(parent, from);
  };
const both =
  (...edits: Edit[]): Edit =>
  (document) =>
    edits.map((edit) => edit(document));

const query = (name: string, required: boolean): object => ({
  name,
  in: 'query',
  required,
  schema: { type: 'string' },
});

const changeDefault: Edit = (document) =>
  Object.assign(
    memberAt(document, [...COMMENTS, 'get', 'parameters']).find(
      ({ name }) => String(name) === 'limit',
    )?.schema ?? {},
    { default: 10 },
  );

/** The kinds of changes that GitHub's documentation calls breaking: name, rule and path of the expected finding, and an example. */
export const BREAKING: [string, string, RegExp, Edit][] = [
  [
    'removing an entire operation',
    'operation-removed',
    /comments~1{id}\/delete$/,
    remove(['paths', '/dev/v1/comments/{id}'], 'delete'),
  ],
  [
    'renaming a path',
    'path-removed',
    /dev~1v1~1profile$/,
    rename(['paths'], '/dev/v1/me', '/dev/v1/profile'),
  ],
  [
    'renaming an operation',
    'operation-id-changed',
    /posts~1{id}~1analytics\/get$/,
    set(['paths', '/dev/v1/posts/{id}/analytics', 'get'], { operationId: 'stats' }),
  ],
  [
    'removing a parameter',
    'parameter-removed',
    /v1~1posts\/get\/parameters/,
    shift([...POSTS, 'get', 'parameters']),
  ],
  [
    'removing a field of a request body',
    'property-removed',
    /posts\/post\/requestBody\/.*\/title$/,
    remove(schema('CreatePost', 'properties'), 'title'),
  ],
  [
    'removing a field of a form that accepts unknown fields',
    'property-removed',
    /oauth~1token\/post\/requestBody\/.*\/scope$/,
    remove([...form('/oauth/token'), 'properties'], 'scope'),
  ],
  [
    'removing a field of a response',
    'property-removed',
    /responses\/200\/.*\/properties\/tags$/,
    both(remove(schema('Post', 'properties'), 'tags'), set(schema('Post'), { required: ['id'] })),
  ],
  [
    'removing a header of a response',
    'response-header-removed',
    /posts\/post\/responses\/201\/headers\/Location$/,
    remove(CREATED, 'Location'),
  ],
  [
    'adding a required parameter',
    'parameter-became-required',
    /comments\/get\/parameters/,
    push([...COMMENTS, 'get', 'parameters'], query('since', true)),
  ],
  [
    'adding a required field to a form',
    'required-properties-added',
    /oauth~1revoke\/post/,
    push([...form('/oauth/revoke'), 'required'], 'client_id'),
  ],
  [
    'making an optional field required',
    'required-properties-added',
    /comments\/post\/requestBody/,
    push(schema('CreateComment', 'required'), 'parentId'),
  ],
  [
    'changing the type of a parameter',
    'schema-type-changed',
    /{id}\/get\/parameters\/0\/schema$/,
    set([...POST, 'get', 'parameters', '0', 'schema'], { type: 'integer' }),
  ],
  [
    'changing the type of a field of a response',
    'schema-type-changed',
    /\/properties\/likes$/,
    set(field('Analytics', 'likes'), { type: 'string' }),
  ],
  [
    'making a field of a response nullable',
    'schema-type-changed',
    /\/properties\/comments$/,
    set(field('Analytics', 'comments'), { type: ['integer', 'null'] }),
  ],
  [
    'removing an enum value of a request',
    'enum-values-removed',
    /\/properties\/visibility$/,
    shift([...field('CreatePost', 'visibility'), 'enum']),
  ],
  [
    'removing an enum value of a response',
    'enum-values-removed',
    /\/properties\/prompt_values_supported\/items$/,
    shift(schema('ServerMetadata', ...PROMPTS)),
  ],
  [
    'adding a constraint to a field',
    'schema-constraint-changed',
    /\/properties\/text$/,
    set(field('CreateComment', 'text'), { maxLength: 9 }),
  ],
  [
    'adding a constraint to a request body',
    'schema-combinator-changed',
    /posts\/post\/requestBody\/.*\/allOf$/,
    set(schema('CreatePost'), { allOf: [{ required: ['type'] }] }),
  ],
  [
    'requiring another scope',
    'security-requirement-changed',
    /posts~1{id}\/delete\/security/,
    set([...POST, 'delete'], { security: [{ oauth2: ['analytics.read'] }] }),
  ],
  [
    'no longer requiring a token',
    'authorization-changed',
    /posts~1{id}\/get\/security/,
    set([...POST, 'get'], { security: [] }),
  ],
  [
    'requiring a token for a public operation',
    'security-requirement-changed',
    /oauth-authorization-server\/get\/security/,
    set(METADATA, { security: [{ oauth2: [] }] }),
  ],
  [
    'moving the token endpoint',
    'authorization-changed',
    /authorizationCode$/,
    set(FLOW, { tokenUrl: '/elsewhere' }),
  ],
  [
    'changing an error code',
    'enum-values-removed',
    /{id}\/get\/responses\/404\/.*\/error\/anyOf\/0$/,
    set(codes([...POST, 'get'], '404').slice(0, -1), { enum: ['gone'] }),
  ],
  [
    'removing an OAuth error code',
    'enum-values-removed',
    /oauth~1token\/post\/responses\/400\/.*\/error\/anyOf\/0$/,
    shift(codes(['paths', '/oauth/token', 'post'], '400')),
  ],
  [
    'renaming the error code of a field',
    'enum-values-removed',
    /responses\/400\/.*\/code\/anyOf\/0$/,
    set(schema('FieldErrorCode', 'enum'), ['missing']),
  ],
  [
    'changing the status of a response',
    'response-removed',
    /posts~1{id}\/delete\/responses\/404$/,
    rename([...POST, 'delete', 'responses'], '404', '410'),
  ],
  [
    'changing a default',
    'default-changed',
    /comments\/get\/parameters\/\d\/schema$/,
    changeDefault,
  ],
  [
    'making a response header optional',
    'response-header-became-optional',
    /posts\/post\/responses\/429\/headers\/RateLimit$/,
    remove(REMAINING, 'required'),
  ],
  [
    'removing a scope',
    'scope-removed',
    /scopes\/analytics\.read$/,
    remove([...FLOW, 'scopes'], 'analytics.read'),
  ],
];

const TEXT = { type: 'string' };
const NEW_OPERATION = {
  operationId: 'listFriends',
  responses: { 200: { description: 'The friends.' } },
  security: [{ oauth2: [] }],
};
const LONG_DESCRIPTION =
  'Items are counted from the newest one, so pages shift whenever one is added. '.repeat(5);

/** The kinds of changes that GitHub's documentation calls additive: the name of the addition or change, and an example. */
export const ADDITIVE: [string, Edit][] = [
  ['an operation', set(['paths'], { '/dev/v1/friends': { get: NEW_OPERATION } })],
  ['an optional parameter', push([...POSTS, 'get', 'parameters'], query('sort', false))],
  [
    'an optional request header',
    push([...POSTS, 'post', 'parameters'], { ...query('X-New', false), in: 'header' }),
  ],
  ['an optional field of a request body', set(schema('CreatePost', 'properties'), { mood: TEXT })],
  [
    'a field of a response',
    both(
      set(schema('User', 'properties'), { joinedAt: TEXT }),
      push(schema('User', 'required'), 'joinedAt'),
    ),
  ],
  ['a header of a response', set(CREATED, { 'X-New': { schema: TEXT } })],
  [
    'a response with another status',
    set([...POST, 'get', 'responses'], { 410: { description: 'Gone.' } }),
  ],
  ['an enum value of a request', push([...field('CreatePost', 'visibility'), 'enum'], 'friends')],
  [
    'an enum value of a response',
    push([...field('ServerMetadata', 'scopes_supported'), 'items', 'enum'], 'new.scope'),
  ],
  [
    'an error code',
    both(
      push(schema('ErrorCode', 'enum'), 'teapot'),
      push(codes([...POSTS, 'post'], '400'), 'teapot'),
    ),
  ],
  ['an error code of a field', push(schema('FieldErrorCode', 'enum'), 'too_odd')],
  ['making a response header required', set([...CREATED, 'RateLimit'], { required: true })],
  ['a larger limit', set(field('CreatePost', 'content'), { maxLength: 20_000 })],
  ['another summary', set([...POST, 'get'], { summary: 'Read a post' })],
  [
    'a much longer description',
    set([...POSTS, 'get', 'parameters', '0'], { description: LONG_DESCRIPTION }),
  ],
];
