import type { Scope } from '../../src/platform/access/scopes.js';
import { Member, type PageBody } from './member.js';
import { type ErrorBody, json } from './responses.js';

/** Matches words that reveal the framework, the driver, the language or the database. */
const INTERNALS =
  /statusCode|Exception|Nest(?!ed)|Express|TypeORM|SELECT|INSERT|sqlite|mysql|maria|node_modules|\.js\b|\.ts\b|SyntaxError|TypeError|at position/i;

const ERROR_FIELDS = ['error', 'error_description', 'request_id', 'errors', 'doc_url'];

/** Asserts the complete error body of the API, and returns it. */
export async function expectApiError(
  response: Response,
  status: number,
  error: string,
): Promise<ErrorBody> {
  const text = await response.text();
  expect(`${response.status} ${text}`).toMatch(new RegExp(`^${status} `));
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const body = JSON.parse(text) as ErrorBody;
  expect(body.error).toBe(error);
  expect(Object.keys(body)).toEqual(
    ERROR_FIELDS.filter((field) => field !== 'errors' || body.errors !== undefined),
  );
  expect(body.error_description).toMatch(/^\S.*\.$/s);
  expect(body.request_id).toBe(response.headers.get('x-request-id'));
  expect(body.doc_url).toMatch(new RegExp(`^http://[^/]+/docs/errors#${error}$`));
  for (const { field, code, message } of body.errors ?? []) {
    expect([typeof field, typeof code, message]).toEqual([
      'string',
      'string',
      expect.stringMatching(/\.$/),
    ]);
  }
  expect(withoutRequestId(text, body)).not.toMatch(INTERNALS);
  return body;
}

/** Removes the request id, which is random and may contain any short word. */
export function withoutRequestId(text: string, { request_id }: ErrorBody): string {
  return text.replaceAll(request_id, '');
}

/** Asserts a 400 with exactly these field errors in this order, each as `field code`. */
export async function expectFieldErrors(
  response: Response,
  ...violations: string[]
): Promise<ErrorBody> {
  const body = await expectApiError(response, 400, 'invalid_request');
  expect(body.errors?.map(({ field, code }) => `${field} ${code}`.trim())).toEqual(violations);
  return body;
}

export type ItemPage = PageBody<{ id: string; createdAt: string }>;

/** Parses a page of a list. @throws unless the status is 200 */
export async function readPage(response: Response): Promise<ItemPage> {
  expect(response.status).toBe(200);
  return json<ItemPage>(response);
}

export function idsOf({ data }: ItemPage): string[] {
  return data.map(({ id }) => id);
}

/** The URLs of the `Link` header by relation (RFC 8288). */
export function linksOf(response: Response): Record<string, string> {
  const header = response.headers.get('link') ?? '';
  const links = [...header.matchAll(/<([^>]*)>; rel="([^"]*)"/g)];
  expect(links.map(([link]) => link).join(', ')).toBe(header);
  return Object.fromEntries(links.map(([, address = '', relation = '']) => [relation, address]));
}

export interface Endpoint {
  method: 'GET' | 'POST' | 'DELETE';
  /** Relative to `/dev/v1`, with `:post` and `:comment` for ids. */
  path: string;
  /** Null if any valid access token is accepted. */
  scope: Scope | null;
  /** The status of a successful call. */
  success: number;
}

/** The endpoints of the product requirements, section 4.2, and the app's own quota and requests. */
export const ENDPOINTS: readonly Endpoint[] = [
  { method: 'GET', path: '/me', scope: 'profile.read', success: 200 },
  { method: 'POST', path: '/posts', scope: 'posts.write', success: 201 },
  { method: 'GET', path: '/posts', scope: 'posts.read', success: 200 },
  { method: 'GET', path: '/posts/:post', scope: 'posts.read', success: 200 },
  { method: 'GET', path: '/posts/:post/analytics', scope: 'analytics.read', success: 200 },
  { method: 'DELETE', path: '/posts/:post', scope: 'posts.write', success: 200 },
  { method: 'GET', path: '/posts/:post/comments', scope: 'posts.read', success: 200 },
  { method: 'POST', path: '/posts/:post/comments', scope: 'posts.write', success: 201 },
  { method: 'DELETE', path: '/comments/:comment', scope: 'posts.write', success: 200 },
  { method: 'GET', path: '/quota', scope: null, success: 200 },
  { method: 'GET', path: '/requests', scope: null, success: 200 },
  { method: 'GET', path: '/requests/:request', scope: null, success: 200 },
];

/** The path with ids that do not exist in any test. */
export function pathWithUnknownIds({ path }: Endpoint): string {
  return path
    .replace(':post', 'post_01kahq5f3veqdr8bn3tdmx3q0a')
    .replace(':comment', 'cmt_01kahq5f3veqdr8bn3tdmx3q0a')
    .replace(':request', 'req_01kahq5f3veqdr8bn3tdmx3q0a');
}

/** A valid request body; undefined for GET and DELETE. */
export function bodyOf({ method, path }: Endpoint): object | undefined {
  if (method !== 'POST') return undefined;
  return { [path === '/posts' ? 'content' : 'text']: 'Hi' };
}

/** Creates a post by this member and a comment on it, or a recorded request. Returns the path with their ids. */
export async function pathWithNewIds({ path }: Endpoint, member: Member): Promise<string> {
  if (!path.includes(':')) return path;
  if (path.includes(':request')) {
    const { headers } = await member.post('/posts', { content: 'Hi' });
    return path.replace(':request', headers.get('x-request-id') ?? '');
  }
  const post = await member.publish();
  const comment = await member.comment(post.id);
  return path.replace(':post', post.id).replace(':comment', comment.id);
}
