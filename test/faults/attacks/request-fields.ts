import { VERIFIER, obtainTokens } from '../../support/oauth-flow.js';
import { Member } from '../../support/member.js';
import {
  type OpenApiDocument,
  type Parameter,
  type OperationEntry,
  operationEntries,
  publishedDocument,
} from '../../support/published-document.js';
import { isForm, type GeneratedRequest } from '../../support/request-arbitraries.js';
import { printable } from './hostile-texts.js';

/** A field in the request of a documented operation. */
export interface Field {
  entry: OperationEntry;
  where: Parameter['in'] | 'body';
  /** Undefined where the text is the name of an unknown parameter or member. */
  name?: string;
}

/** All fields of all documented operations, and an unknown name for each query and body. */
export function fieldsOf(document: OpenApiDocument): Field[] {
  return operationEntries(document).flatMap((entry) => [
    ...(entry.operation.parameters ?? []).map(({ name, in: where }): Field => ({
      entry,
      where,
      name,
    })),
    { entry, where: 'query' },
    ...bodyNames(document, entry).map((name): Field => ({ entry, where: 'body', name })),
  ]);
}

/**
 * Requests by operation id, sent by this author and their app. Each succeeds once, and has all body members and the required
 * parameters.
 */
export async function fullRequestsOf(author: Member): Promise<Map<string, GeneratedRequest>> {
  const { client, app, token } = author;
  const { id } = await author.publish();
  const { refresh_token } = await obtainTokens(app, client);
  const known = {
    id,
    title: 'Block party',
    content: 'Bring a chair',
    type: 'event',
    images: ['https://images.example/party.jpg'],
    tags: ['party'],
    latitude: 37.5,
    longitude: -122.25,
    reachKm: 2.5,
    visibility: 'public',
    text: 'Count me in',
    parentId: (await author.comment(id)).id,
    client_id: client.clientId,
    client_secret: client.secret,
    redirect_uri: client.redirectUris[0],
    response_type: 'code',
    state: 'af0ifjsldkj',
    scope: 'profile.read',
    token,
    token_type_hint: 'access_token',
    grant_type: 'refresh_token',
    refresh_token,
    code: 'none',
    code_verifier: VERIFIER,
  };
  /** Values for requests that delete an item or revoke a token. */
  const deletable: Record<string, object> = {
    deletePost: { id: (await author.publish()).id },
    deleteComment: { id: (await author.comment(id)).id },
    revoke: { token: (await Member.join(app, { client })).token },
  };
  const document = publishedDocument();
  return new Map(
    operationEntries(document).map((entry) => {
      const { operationId } = entry.operation;
      return [
        operationId,
        requestWith({ ...known, ...deletable[operationId] }, document, entry, token),
      ];
    }),
  );
}

/** The request with the text as the new value of this field, or as the name of an unknown one. */
export function withText(
  request: GeneratedRequest,
  { entry, where, name }: Field,
  text: string,
): GeneratedRequest {
  const [key, value] = name === undefined ? [text, 'x'] : [name, text];
  switch (where) {
    case 'path':
      return { ...request, path: entry.path.replace(`{${key}}`, () => encodeURIComponent(value)) };
    case 'query': {
      const [path, query] = request.path.split('?');
      return { ...request, path: `${path}?${withParameter(query ?? '', key, value)}` };
    }
    case 'header':
      return { ...request, headers: { ...request.headers, [key]: printable(value) } };
    default: {
      const body = request.body ?? '';
      return {
        ...request,
        body: isForm(entry) ? withParameter(body, key, value) : withMember(body, key, value),
      };
    }
  }
}

/** @param token is sent where the operation requires one */
function requestWith(
  values: Record<string, unknown>,
  document: OpenApiDocument,
  entry: OperationEntry,
  token: string,
): GeneratedRequest {
  const { method, path, operation } = entry;
  const withValues = (names: readonly string[]): [string, unknown][] =>
    names.map((name) => {
      if (values[name] === undefined) throw new Error(`${operation.operationId} needs a ${name}.`);
      return [name, values[name]];
    });
  const query = (operation.parameters ?? []).filter(
    ({ in: where, required }) => where === 'query' && required,
  );
  const search = formOf(withValues(query.map(({ name }) => name)));
  const members = withValues(bodyNames(document, entry).filter((name) => name !== undefined));
  const isGuarded = operation.security?.some((requirement) => 'oauth2' in requirement) ?? false;
  const [type] = Object.keys(operation.requestBody?.content ?? {});
  return {
    method: method.toUpperCase(),
    path: `${path.replace('{id}', String(values.id))}${search && `?${search}`}`,
    headers: {
      ...(isGuarded && { authorization: `Bearer ${token}` }),
      ...(type !== undefined && { 'content-type': type }),
    },
    ...(type !== undefined && {
      body: isForm(entry) ? formOf(members) : JSON.stringify(Object.fromEntries(members)),
    }),
  };
}

/** The body members, and undefined for an unknown name. Empty without a body. */
function bodyNames(
  document: OpenApiDocument,
  { operation }: OperationEntry,
): (string | undefined)[] {
  const schema = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  if (schema === undefined) return [];
  const resolved = document.components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
  return [...Object.keys(resolved.properties ?? {}), undefined];
}

function formOf(members: readonly [string, unknown][]): string {
  return new URLSearchParams(members.map(([name, value]) => [name, String(value)])).toString();
}

function withParameter(query: string, name: string, value: string): string {
  const parameters = new URLSearchParams(query);
  parameters.set(name, value);
  return parameters.toString();
}

/** Sets a member; a list gets the value as its only item. */
function withMember(body: string, name: string, value: string): string {
  const members = JSON.parse(body) as Record<string, unknown>;
  const isList = Array.isArray(Object.hasOwn(members, name) ? members[name] : undefined);
  return JSON.stringify(
    Object.fromEntries([...Object.entries(members), [name, isList ? [value] : value]]),
  );
}
