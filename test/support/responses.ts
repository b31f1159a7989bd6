import { AuthorizationCode, Grant } from '../../src/modules/oauth/tokens/token.entities.js';
import { dumpTables } from './database.js';
import type { Page } from './browser.js';
import type { TestApp, TestClient } from './test-app.js';

/** Parses a JSON body. The type parameter is not checked. */
export async function json<T = Record<string, unknown>>(response: Response): Promise<T> {
  return (await response.json()) as T;
}

export interface TokenBody {
  access_token: string;
  token_type: string;
  expires_in: number;
  refresh_token: string;
  scope: string;
}

export interface ErrorBody {
  error: string;
  error_description: string;
  request_id: string;
  errors?: { field: string; code: string; message: string }[];
  doc_url: string;
}

/** The `state` of the links by `authorizeLink`, unless a test sets another. */
export const STATE = 'af0ifjsldkj';

/** The characters that `error_description` may contain (RFC 6749 §5.2). */
const DESCRIPTION = /^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/;

/** Asserts the complete error response of RFC 6749 §5.2. */
export async function expectTokenError(
  response: Response,
  error: string,
  status = error === 'invalid_client' ? 401 : 400,
): Promise<void> {
  const body = await json<Record<string, string>>(response);
  expect({ status: response.status, error: body.error }).toEqual({ status, error });
  expect(body).toEqual({ error, error_description: expect.stringMatching(DESCRIPTION) });
  expectTokenHeaders(response);
}

/** Asserts the headers of every response of the token endpoint (RFC 6749 §5.1). */
export function expectTokenHeaders({ headers }: Response): void {
  expect(headers.get('content-type')).toMatch(/^application\/json\b/);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('pragma')).toBe('no-cache');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('x-powered-by')).toBeNull();
}

/** Asserts an HTML page without a redirect, with the headers of every page (RFC 9700 §4.16). */
export function expectPage(page: Page, status: number): void {
  const { headers } = page;
  expect({ status: page.status, location: page.location }).toEqual({ status, location: null });
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-store');
  const policy = headers.get('content-security-policy') ?? '';
  for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"])
    expect(policy).toContain(part);
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('referrer-policy')).toBe('same-origin');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('cross-origin-opener-policy')).toBe('unsafe-none');
  expect(headers.get('x-powered-by')).toBeNull();
  expect(page.html).not.toMatch(/\b(Nest(JS)?|Express)\b|TypeORM|statusCode|SELECT |at .*\.js:\d+/);
}

/** Asserts the error redirect to the client (RFC 6749 §4.1.2.1), and returns its parameters. */
export function expectErrorRedirect(
  page: Page,
  client: TestClient,
  error: string,
  expected?: { state?: string | null },
): URLSearchParams {
  expect(page.status).toBe(303);
  expect(page.html).toBe('');
  expect(page.headers.get('cache-control')).toBe('no-store');
  return expectErrorResponse(new URL(page.location ?? ''), page, client, error, expected);
}

/** Asserts the error page for a visitor without a session. It links to the redirect URI with the error (RFC 9700 §4.11.2). */
export function expectErrorPageWithReturnLink(
  page: Page,
  client: TestClient,
  error: string,
  expected?: { state?: string | null },
): URLSearchParams {
  expectPage(page, 400);
  expect(page.html).toContain(`<code>${error}</code>`);
  expect(page.html).not.toContain('<form');
  return expectErrorResponse(returnUrl(page.html), page, client, error, expected);
}

/** The URL of the link "Return to <app>" of an error page. */
export function returnUrl(html: string): URL {
  const [, href = ''] = /href="([^"]*[?;]error=[^"]*)"/.exec(html) ?? [];
  return new URL(href.replaceAll('&#39;', "'").replaceAll('&amp;', '&'));
}

function expectErrorResponse(
  url: URL,
  page: Page,
  client: TestClient,
  error: string,
  { state = STATE }: { state?: string | null } = {},
): URLSearchParams {
  expect(`${url.origin}${url.pathname}`).toBe(client.redirectUris[0]?.split('?')[0]);
  const { searchParams } = url;
  expect({ error: searchParams.get('error'), state: searchParams.get('state') }).toEqual({
    error,
    state,
  });
  expect(searchParams.get('error_description')).toMatch(DESCRIPTION);
  expect(searchParams.get('iss')).toBe(page.baseUrl);
  expect(searchParams.has('code')).toBe(false);
  return searchParams;
}

/** The number of stored grants and authorization codes of the client. */
export async function countGrantsAndCodes(
  app: TestApp,
  { clientId }: TestClient,
): Promise<{ grants: number; codes: number }> {
  const grants = await app.dataSource.getRepository(Grant).findBy({ clientId });
  const codes = await app.dataSource
    .getRepository(AuthorizationCode)
    .countBy(grants.map(({ id }) => ({ grantId: id })));
  return { grants: grants.length, codes: grants.length === 0 ? 0 : codes };
}

/** The names of the CORS headers. */
export function corsHeaders({ headers }: Response): string[] {
  return [...headers.keys()].filter((name) => name.startsWith('access-control-'));
}

/** Matches a value where it is not part of a longer number or word. */
export function asWholeWord(value: string): RegExp {
  return new RegExp(`(?<![0-9A-Za-z])${value}(?![0-9A-Za-z])`);
}

/** Every row of every table as text. */
export async function dumpDatabase(app: TestApp): Promise<string> {
  const tables = await dumpTables(app.dataSource);
  return [...tables].map(([table, rows]) => `${table} ${rows}`).join('\n');
}

/**
 * The parts of a response that must not differ between two requests: without the date, and without the request id and the `ETag`,
 * which differs if the body contains the request id.
 */
export async function comparable(
  response: Response,
): Promise<{ status: number; headers: [name: string, value: string][]; body: string }> {
  const { headers, status } = response;
  const id = headers.get('x-request-id') ?? '';
  const body = await response.text();
  return {
    status,
    headers: [...headers].filter(([name]) => !['date', 'etag', 'x-request-id'].includes(name)),
    body: id === '' ? body : body.replaceAll(id, ''),
  };
}
