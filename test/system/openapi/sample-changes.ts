/** A document, or any part of it: an object and a list in one type, so that the changes below need no casts. */
type Json = { [name: string]: Json } & Json[] & { push(value: unknown): void };
/** Changes a document in place. */
export type Edit = (document: Json) => unknown;

const POSTS = '/dev/v1/posts';
const POST = '/dev/v1/posts/{id}';
const COMMENTS = '/dev/v1/posts/{id}/comments';
const schema = (document: Json, name: string): Json =>
  memberAt(document, 'components', 'schemas', name);
const parameters = (document: Json, path: string): Json =>
  memberAt(document, 'paths', path, 'get', 'parameters');

/** The kinds of changes that GitHub's documentation calls breaking: name, rule and path of the expected finding, and an example. */
export const BREAKING: [string, string, RegExp, Edit][] = [
  [
    'removing an entire operation',
    'operation-removed',
    /comments~1{id}\/delete$/,
    (document) => remove(memberAt(document, 'paths', '/dev/v1/comments/{id}'), 'delete'),
  ],
  [
    'renaming a path',
    'path-removed',
    /dev~1v1~1profile$/,
    (document) => {
      const paths = memberAt(document, 'paths');
      Object.assign(paths, { '/dev/v1/profile': paths['/dev/v1/me'] });
      remove(paths, '/dev/v1/me');
    },
  ],
  [
    'renaming an operation',
    'operation-id-changed',
    /posts~1{id}~1analytics\/get$/,
    (document) =>
      Object.assign(memberAt(document, 'paths', `${POST}/analytics`, 'get'), {
        operationId: 'stats',
      }),
  ],
  [
    'removing a parameter',
    'parameter-removed',
    /v1~1posts\/get\/parameters/,
    (document) => parameters(document, POSTS).shift(),
  ],
  [
    'removing a field of a request body',
    'property-removed',
    /posts\/post\/requestBody\/.*\/title$/,
    (document) => remove(memberAt(schema(document, 'CreatePost'), 'properties'), 'title'),
  ],
  [
    'removing a field of a form that accepts unknown fields',
    'property-removed',
    /oauth~1token\/post\/requestBody\/.*\/scope$/,
    (document) => remove(memberAt(form(document, '/oauth/token'), 'properties'), 'scope'),
  ],
  [
    'removing a field of a response',
    'property-removed',
    /responses\/200\/.*\/properties\/tags$/,
    (document) => {
      const post = schema(document, 'Post');
      remove(memberAt(post, 'properties'), 'tags');
      Object.assign(post, { required: ['id'] });
    },
  ],
  [
    'removing a header of a response',
    'response-header-removed',
    /posts\/post\/responses\/201\/headers\/Location$/,
    (document) =>
      remove(memberAt(document, 'paths', POSTS, 'post', 'responses', '201', 'headers'), 'Location'),
  ],
  [
    'adding a required parameter',
    'parameter-became-required',
    /comments\/get\/parameters/,
    (document) => parameters(document, COMMENTS).push(query('since', { required: true })),
  ],
  [
    'adding a required field to a form',
    'required-properties-added',
    /oauth~1revoke\/post/,
    (document) => memberAt(form(document, '/oauth/revoke'), 'required').push('client_id'),
  ],
  [
    'making an optional field required',
    'required-properties-added',
    /comments\/post\/requestBody/,
    (document) => memberAt(schema(document, 'CreateComment'), 'required').push('parentId'),
  ],
  [
    'changing the type of a parameter',
    'schema-type-changed',
    /{id}\/get\/parameters\/0\/schema$/,
    (document) =>
      Object.assign(memberAt(parameters(document, POST), '0', 'schema'), { type: 'integer' }),
  ],
  [
    'changing the type of a field of a response',
    'schema-type-changed',
    /\/properties\/likes$/,
    (document) =>
      Object.assign(memberAt(schema(document, 'Analytics'), 'properties', 'likes'), {
        type: 'string',
      }),
  ],
  [
    'making a field of a response nullable',
    'schema-type-changed',
    /\/properties\/comments$/,
    (document) =>
      Object.assign(memberAt(schema(document, 'Analytics'), 'properties', 'comments'), {
        type: ['integer', 'null'],
      }),
  ],
  [
    'removing an enum value of a request',
    'enum-values-removed',
    /\/properties\/visibility$/,
    (document) =>
      memberAt(schema(document, 'CreatePost'), 'properties', 'visibility', 'enum').shift(),
  ],
  [
    'removing an enum value of a response',
    'enum-values-removed',
    /\/properties\/prompt_values_supported\/items$/,
    (document) =>
      memberAt(
        schema(document, 'ServerMetadata'),
        ...['properties', 'prompt_values_supported', 'items', 'enum'],
      ).shift(),
  ],
  [
    'adding a constraint to a field',
    'schema-constraint-changed',
    /\/properties\/text$/,
    (document) =>
      Object.assign(memberAt(schema(document, 'CreateComment'), 'properties', 'text'), {
        maxLength: 9,
      }),
  ],
  [
    'adding a constraint to a request body',
    'schema-combinator-changed',
    /posts\/post\/requestBody\/.*\/allOf$/,
    (document) =>
      Object.assign(schema(document, 'CreatePost'), { allOf: [{ required: ['type'] }] }),
  ],
  [
    'requiring another scope',
    'security-requirement-changed',
    /posts~1{id}\/delete\/security/,
    (document) =>
      Object.assign(memberAt(document, 'paths', POST, 'delete'), {
        security: [{ oauth2: ['analytics.read'] }],
      }),
  ],
  [
    'no longer requiring a token',
    'authorization-changed',
    /posts~1{id}\/get\/security/,
    (document) => Object.assign(memberAt(document, 'paths', POST, 'get'), { security: [] }),
  ],
  [
    'requiring a token for a public operation',
    'security-requirement-changed',
    /oauth-authorization-server\/get\/security/,
    (document) =>
      Object.assign(memberAt(document, 'paths', '/.well-known/oauth-authorization-server', 'get'), {
        security: [{ oauth2: [] }],
      }),
  ],
  [
    'moving the token endpoint',
    'authorization-changed',
    /authorizationCode$/,
    (document) => Object.assign(flow(document), { tokenUrl: '/elsewhere' }),
  ],
  [
    'changing an error code',
    'enum-values-removed',
    /{id}\/get\/responses\/404\/.*\/error\/anyOf\/0$/,
    (document) => Object.assign(codes(document, POST, 'get', '404'), { enum: ['gone'] }),
  ],
  [
    'removing an OAuth error code',
    'enum-values-removed',
    /oauth~1token\/post\/responses\/400\/.*\/error\/anyOf\/0$/,
    (document) => memberAt(codes(document, '/oauth/token', 'post', '400'), 'enum').shift(),
  ],
  [
    'renaming the error code of a field',
    'enum-values-removed',
    /responses\/400\/.*\/code\/anyOf\/0$/,
    (document) => Object.assign(memberAt(schema(document, 'FieldErrorCode'), 'enum'), ['missing']),
  ],
  [
    'changing the status of a response',
    'response-removed',
    /posts~1{id}\/delete\/responses\/404$/,
    (document) => {
      const responses = memberAt(document, 'paths', POST, 'delete', 'responses');
      Object.assign(responses, { 410: responses['404'] });
      remove(responses, '404');
    },
  ],
  [
    'changing a default',
    'default-changed',
    /comments\/get\/parameters\/\d\/schema$/,
    (document) =>
      Object.assign(parameters(document, COMMENTS).find(isLimit)?.schema ?? {}, { default: 10 }),
  ],
  [
    'making a response header optional',
    'response-header-became-optional',
    /posts\/post\/responses\/429\/headers\/RateLimit$/,
    (document) =>
      remove(
        memberAt(document, 'paths', POSTS, 'post', 'responses', '429', 'headers', 'RateLimit'),
        'required',
      ),
  ],
  [
    'removing a scope',
    'scope-removed',
    /scopes\/analytics\.read$/,
    (document) => remove(memberAt(flow(document), 'scopes'), 'analytics.read'),
  ],
];

const LONG_DESCRIPTION =
  'Items are counted from the newest one, so pages shift whenever one is added. '.repeat(5);

/** The kinds of changes that GitHub's documentation calls additive: the name of the addition or change, and an example. */
export const ADDITIVE: [string, Edit][] = [
  [
    'an operation',
    (document) =>
      Object.assign(memberAt(document, 'paths'), {
        '/dev/v1/friends': {
          get: {
            operationId: 'listFriends',
            responses: { 200: { description: 'The friends.' } },
            security: [{ oauth2: [] }],
          },
        },
      }),
  ],
  [
    'an optional parameter',
    (document) => parameters(document, POSTS).push(query('sort', { required: false })),
  ],
  [
    'an optional request header',
    (document) =>
      memberAt(document, 'paths', POSTS, 'post', 'parameters').push({
        name: 'X-New',
        in: 'header',
        required: false,
        schema: { type: 'string' },
      }),
  ],
  [
    'an optional field of a request body',
    (document) =>
      Object.assign(memberAt(schema(document, 'CreatePost'), 'properties'), {
        mood: { type: 'string' },
      }),
  ],
  [
    'a field of a response',
    (document) => {
      const user = schema(document, 'User');
      Object.assign(memberAt(user, 'properties'), { joinedAt: { type: 'string' } });
      memberAt(user, 'required').push('joinedAt');
    },
  ],
  [
    'a header of a response',
    (document) =>
      Object.assign(memberAt(document, 'paths', POSTS, 'post', 'responses', '201', 'headers'), {
        'X-New': { schema: { type: 'string' } },
      }),
  ],
  [
    'a response with another status',
    (document) =>
      Object.assign(memberAt(document, 'paths', POST, 'get', 'responses'), {
        410: { description: 'Gone.' },
      }),
  ],
  [
    'an enum value of a request',
    (document) =>
      memberAt(schema(document, 'CreatePost'), 'properties', 'visibility', 'enum').push('friends'),
  ],
  [
    'an enum value of a response',
    (document) =>
      memberAt(
        schema(document, 'ServerMetadata'),
        'properties',
        'scopes_supported',
        'items',
        'enum',
      ).push('new.scope'),
  ],
  [
    'an error code',
    (document) => {
      memberAt(schema(document, 'ErrorCode'), 'enum').push('teapot');
      memberAt(codes(document, POSTS, 'post', '400'), 'enum').push('teapot');
    },
  ],
  [
    'an error code of a field',
    (document) => memberAt(schema(document, 'FieldErrorCode'), 'enum').push('too_odd'),
  ],
  [
    'making a response header required',
    (document) =>
      Object.assign(
        memberAt(document, 'paths', POSTS, 'post', 'responses', '201', 'headers', 'RateLimit'),
        {
          required: true,
        },
      ),
  ],
  [
    'a larger limit',
    (document) =>
      Object.assign(memberAt(schema(document, 'CreatePost'), 'properties', 'content'), {
        maxLength: 20_000,
      }),
  ],
  [
    'another summary',
    (document) =>
      Object.assign(memberAt(document, 'paths', POST, 'get'), { summary: 'Read a post' }),
  ],
  [
    'a much longer description',
    (document) =>
      Object.assign(parameters(document, POSTS)[0] ?? {}, { description: LONG_DESCRIPTION }),
  ],
];

/** The error codes of an operation's response. */
function codes(document: Json, path: string, method: string, status: string): Json {
  const names = ['responses', status, 'content', 'application/json', 'schema', 'allOf', '1'];
  return memberAt(document, 'paths', path, method, ...names, 'properties', 'error', 'anyOf', '0');
}

/** The member of a document at this path. */
function memberAt(start: Json, ...names: string[]): Json {
  return names.reduce((value, name) => {
    const member = value[name];
    if (member === undefined) throw new Error(`The document has nothing at ${names.join(' ')}.`);
    return member;
  }, start);
}

function remove(from: Json, name: string): void {
  Reflect.deleteProperty(from, name);
}

function form(document: Json, path: string): Json {
  const names = ['post', 'requestBody', 'content', 'application/x-www-form-urlencoded', 'schema'];
  return memberAt(document, 'paths', path, ...names);
}

function flow(document: Json): Json {
  return memberAt(
    document,
    'components',
    'securitySchemes',
    'oauth2',
    'flows',
    'authorizationCode',
  );
}

function query(name: string, { required }: { required: boolean }): object {
  return { name, in: 'query', required, schema: { type: 'string' } };
}

function isLimit({ name }: Json): boolean {
  return String(name) === 'limit';
}
